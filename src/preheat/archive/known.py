"""Which sources the archive knows, and as what. Light: a sync that finds little new asks no more than this.

Knows nothing of what the sources hold.
"""

import sqlite3

from preheat.archive.rows import Known

_COLUMNS = "id, stamp, reader_version, generation"


def known_files(connection: sqlite3.Connection) -> dict[str, Known]:
    """Every file by its path."""
    rows = connection.execute(f"SELECT path, {_COLUMNS} FROM sources WHERE part = ''")  # noqa: S608
    return {row[0]: Known(*row[1:]) for row in rows}


def known_parts(connection: sqlite3.Connection, path: str) -> dict[str, Known]:
    """The sessions of a database by their part."""
    statement = f"SELECT part, {_COLUMNS} FROM sources WHERE path = ? AND part <> ''"  # noqa: S608
    return {row[0]: Known(*row[1:]) for row in connection.execute(statement, (path,))}


def known_source(connection: sqlite3.Connection, path: str, part: str = "") -> Known | None:
    """One source."""
    statement = f"SELECT {_COLUMNS} FROM sources WHERE path = ? AND part = ?"  # noqa: S608
    row = connection.execute(statement, (path, part)).fetchone()
    return Known(*row) if row else None
