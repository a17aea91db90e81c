"""Saves the rows of a damaged state into a new file, table by table, as far as they can be read.

Changes nothing in the damaged file. Knows nothing of what the rows mean.
"""

import sqlite3
from typing import Any, NamedTuple

from preheat.sqlite_files.pages import PageFile
from preheat.state.connect import make_file

_PAGE_SIZE = 4096
_TYPES: dict[str, tuple[type, ...]] = {"TEXT": (str,), "INTEGER": (int,), "REAL": (int, float), "BLOB": (bytes,)}


class SavedState(NamedTuple):
    """What was saved of a damaged state."""

    rows: dict[str, int]
    """By table."""
    lost: list[str]
    """Tables of which something could not be read."""


class _Column(NamedTuple):
    name: str
    types: tuple[type, ...]
    optional: bool
    is_rowid: bool


def save_state(path: str, new: str) -> SavedState:
    """Make a new state with every row that can be read from the damaged one. Raises sqlite3.DatabaseError and OSError."""
    make_file(new)
    pages = PageFile(path, _PAGE_SIZE)
    connection = sqlite3.connect(new, isolation_level=None)
    try:
        connection.execute("BEGIN IMMEDIATE")
        found = _save_tables(pages, connection)
        connection.execute("COMMIT")
    finally:
        connection.close()
        pages.close()
    return found


def _save_tables(pages: PageFile, connection: sqlite3.Connection) -> SavedState:
    rows: dict[str, int] = {}
    lost: list[str] = []
    # The tables are made in one order, so their first pages are where a new file has them, if the list is damaged.
    roots = dict(connection.execute("SELECT name, rootpage FROM sqlite_master WHERE type = 'table'").fetchall())
    for record in pages.records(1) if pages.count else ():
        if len(record.values) == 5 and record.values[0] == "table" and record.values[1] in roots:
            roots[record.values[1]] = record.values[3]
    for table, root in roots.items():
        kept, is_whole = _save_table(pages, connection, table, root)
        rows[table] = kept
        if not is_whole:
            lost.append(table)
    return SavedState(rows, lost)


def _save_table(pages: PageFile, connection: sqlite3.Connection, table: str, root: Any) -> tuple[int, bool]:
    """How many rows of a table were saved, and whether all could be."""
    columns = _columns(connection, table)
    statement = f"INSERT OR IGNORE INTO {table} VALUES ({', '.join('?' * len(columns))})"  # noqa: S608 - names of our own
    kept, expected = 0, 0
    is_whole = isinstance(root, int)
    try:
        for number in pages.walk(root if isinstance(root, int) else 0):
            expected += pages.count_records(number)
            for record in pages.records(number):
                row = [
                    record.rowid if column.is_rowid else value
                    for column, value in zip(columns, record.values, strict=False)
                ]
                if len(record.values) == len(columns) and all(map(_fits, columns, row)):
                    connection.execute(statement, row)
                    kept += 1
    except ValueError:
        is_whole = False
    return kept, is_whole and kept == expected


def _columns(connection: sqlite3.Connection, table: str) -> list[_Column]:
    has_rowid = "WITHOUT ROWID" not in _definition(connection, table)
    return [
        _Column(name, _TYPES[kind], not needed and not key, bool(key) and kind == "INTEGER" and has_rowid)
        for _, name, kind, needed, _, key in connection.execute(f"PRAGMA table_info({table})")
    ]


def _definition(connection: sqlite3.Connection, table: str) -> str:
    return str(connection.execute("SELECT sql FROM sqlite_master WHERE name = ?", (table,)).fetchone()[0])


def _fits(column: _Column, value: object) -> bool:
    return isinstance(value, column.types) or (value is None and column.optional)
