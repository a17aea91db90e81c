"""Preheat: start every session of a coding agent as good as the end of its best one.

Importing the package does nothing; each part is imported from its own module.
"""

__version__ = "0.1.0"
