"""SQLite databases of programs that may be running: opened so that nothing can be written to them; rows as text and as lines.

Knows no agent and no table.
"""

import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from preheat.errors import SourceUnreadable
from preheat.files import NotAFile, open_file, require_plain_file
from preheat.limits import current_limits, describe_limit

BUSY_SECONDS = 1.0
MAGIC = b"SQLite format 3\x00"
_WITH_LOG = b"\x02"


@contextmanager
def open_read_only(path: str) -> Iterator[sqlite3.Connection]:
    """Open a database read-only, with its write-ahead log, at one point in time.

    None of the program's files is changed: SQLite's usual way of reading with a log would write to the index of the log, and
    would create both files where there are none."""
    connection = None
    try:
        _require_plain_files(path)
        connection, before = _connect(path)
        yield connection
        if before is not None and _unlocked_files(path) != before:
            raise SourceUnreadable("it changed while it was read; it will be read next time")
    except sqlite3.Error as error:
        raise SourceUnreadable(_describe_error(path, error)) from error
    except UnicodeDecodeError as error:  # values are read leniently, the names of columns are not
        raise SourceUnreadable(f"it is damaged ({error})") from error
    finally:
        if connection is not None:
            connection.close()


def _require_plain_files(path: str) -> None:
    """Raise SourceUnreadable if the database, its log or its journal is no plain file: SQLite would wait at a pipe for ever."""
    for name in (path, f"{path}-wal", f"{path}-shm", f"{path}-journal"):
        try:
            # Not opened: closing a file frees the locks that this process has on it through SQLite.
            require_plain_file(os.stat(name), name)
        except NotAFile as error:
            raise SourceUnreadable(f"`{os.path.basename(name)}`: {error.strerror}") from error
        except OSError:  # missing, or what SQLite explains better
            continue


def _connect(path: str) -> tuple[sqlite3.Connection, "_FileIdentity | None"]:
    """A connection in a read transaction; and the identity of the file if no lock keeps it from changing meanwhile."""
    before = _unlocked_files(path)
    if before is not None:
        return _begin_reading(path, "&immutable=1"), before
    if os.path.exists(f"{path}-shm"):
        try:
            return _begin_reading(path, "&readonly_shm=1"), None
        except sqlite3.OperationalError as error:
            if (error.sqlite_errorcode or 0) & 0xFF not in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN):
                raise
    # A log whose index is gone, or fits no reader: SQLite makes the index anew.
    return _begin_reading(path, ""), None


def _begin_reading(path: str, how: str) -> sqlite3.Connection:
    name = f"{Path(path).absolute().as_uri()}?mode=ro{how}"
    connection = sqlite3.connect(name, uri=True, timeout=BUSY_SECONDS, isolation_level=None)
    try:
        connection.text_factory = decode_text
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, current_limits().document_bytes)
        connection.execute("PRAGMA trusted_schema = 0")
        connection.execute("PRAGMA query_only = 1")
        connection.execute("BEGIN")
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
    except sqlite3.Error:
        connection.close()
        raise
    return connection


class _FileIdentity(NamedTuple):
    """Size, time and number of a file: a change of any of them is a change of the file."""

    size: int
    changed: int
    number: int


def _unlocked_files(path: str) -> "_FileIdentity | None":
    """The identity of a database in log mode that no program has open and whose log is empty; None for any other."""
    try:
        with open_file(path) as stream:
            head = stream.read(20)
            found = os.fstat(stream.fileno())
        # The log and its index are there as long as a program has the database open.
        if head[19:] != _WITH_LOG or not head.startswith(MAGIC) or os.path.exists(f"{path}-shm"):
            return None
        if os.path.exists(f"{path}-wal") and os.path.getsize(f"{path}-wal"):
            return None
    except OSError:
        return None
    return _FileIdentity(found.st_size, found.st_mtime_ns, found.st_ino)


def _describe_error(path: str, error: sqlite3.Error) -> str:
    code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return "another program holds it locked; it will be read next time"
    if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
        return f"it is damaged, or no SQLite database ({error})"
    if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR):
        if not os.path.exists(path):
            return "it is not there (any more)"
        return f"no permission for it or for its folder ({error})"
    if code == sqlite3.SQLITE_TOOBIG:
        return f"a value in it is larger than {current_limits().document_mb} MB; {describe_limit('document_mb')}"
    return str(error)


def columns_of(database: sqlite3.Connection, tables: Iterable[str]) -> dict[str, set[str]]:
    """The columns of each table; an empty set for a table that does not exist. Views and virtual tables do not count: they
    compute their rows, as many as they like."""
    stored = {
        row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0")
    }
    return {
        table: {row[1] for row in rows(database, f"PRAGMA table_info({table})")} if table in stored else set()
        for table in tables
    }


def require_columns(columns: Mapping[str, set[str]], needed: Mapping[str, set[str]], title: str) -> None:
    """Raise SourceUnreadable if a needed column is missing."""
    for table, names in needed.items():
        if missing := names - columns[table]:
            listed = ", ".join(f"`{name}`" for name in sorted(missing))
            what = f"table `{table}` has no {listed}" if columns[table] else f"it has no table `{table}`"
            raise SourceUnreadable(f"it is no {title} database that Preheat can read: {what}")


def rows(database: sqlite3.Connection, query: str, *values: Any) -> sqlite3.Cursor:
    """The rows of a query; columns are accessible by index and by name."""
    cursor = database.cursor()
    cursor.row_factory = sqlite3.Row
    return cursor.execute(query, values)


def first_row(database: sqlite3.Connection, query: str, *values: Any) -> dict[str, Any] | None:
    """The first row of a query, or None."""
    row = rows(database, query, *values).fetchone()
    return None if row is None else record_of(row)


def record_of(row: sqlite3.Row) -> dict[str, Any]:
    """A row as a dictionary; bytes become text."""
    return {name: decode_text(row[name]) if isinstance(row[name], bytes) else row[name] for name in row.keys()}  # noqa: SIM118


def decode_text(value: Any) -> str:
    """Decode leniently: text that is no UTF-8 would otherwise end the whole query."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def line_of(table: str, row: dict[str, Any]) -> bytes:
    """A row as one JSON line."""
    return msgspec.json.encode({"table": table, "row": row})


def digest_of(facts: list[Any]) -> str:
    """A stamp that changes when any of the facts changes."""
    return blake2b(msgspec.json.encode(facts), digest_size=12).hexdigest()
