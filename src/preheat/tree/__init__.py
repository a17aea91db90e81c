"""The index of a project's working tree: files, symbols, words, history and tests, in a database of its own for each root folder.

Reads files and git's own data, never runs anything that a repository names, and sends nothing anywhere.
"""
