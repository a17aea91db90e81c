"""Aider: chat histories in Markdown, imported one file at a time."""
