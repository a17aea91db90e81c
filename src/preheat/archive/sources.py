"""Which sources the archive knows, and in which state. Light: a sync that finds little new asks no more than this.

Knows nothing of what the sources hold.
"""

from preheat.archive.database import ArchiveConnection
from preheat.archive.rows import KnownSource

_COLUMNS = "id, stamp, reader_version, generation"


def known_files(connection: ArchiveConnection) -> dict[str, KnownSource]:
    """All known files by path."""
    rows = connection.execute(f"SELECT path, {_COLUMNS} FROM sources WHERE part = ''")  # noqa: S608
    return {row[0]: KnownSource(*row[1:]) for row in rows}


def known_parts(connection: ArchiveConnection, path: str) -> dict[str, KnownSource]:
    """The known sessions of a database by part."""
    statement = f"SELECT part, {_COLUMNS} FROM sources WHERE path = ? AND part <> ''"  # noqa: S608
    return {row[0]: KnownSource(*row[1:]) for row in connection.execute(statement, (path,))}


def known_source(connection: ArchiveConnection, path: str, part: str = "") -> KnownSource | None:
    """One known source; None if it is new."""
    statement = f"SELECT {_COLUMNS} FROM sources WHERE path = ? AND part = ?"  # noqa: S608
    row = connection.execute(statement, (path, part)).fetchone()
    return KnownSource(*row) if row else None
