"""Files of SQLite: opening read-only ones, reading damaged ones page by page, replacing them.

Knows none of the tables.
"""
