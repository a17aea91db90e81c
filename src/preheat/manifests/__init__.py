"""What a project's own files say of how it is worked on: scripts, tasks, checks of its forge, services, hooks, instructions.

Each module reads one sort of file, by its text. A text that is broken, too large or not understood gives nothing: it is data of
whoever wrote the project. Knows no file system, no session and no lesson.
"""
