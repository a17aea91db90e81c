"""Which project a session belongs to: what a session says of it (`statement`), and who belongs together (`assignment`)."""

VERSION = 1
"""The version of what is read from a session: part of the version of its analysis."""
