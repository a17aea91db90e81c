"""Cline: the messages of its CLI, and the task folders of its VS Code extension and of the ones made from it."""
