"""Opens a file of SQLite, also one that cannot be written: its own folder or its disk may be read-only.

Knows nothing of what is in the file.
"""

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from preheat.files import open_file, open_private

_BLOCK = 1 << 20

SIGNS_OF_DAMAGE = (
    "not a database", "malformed", "corrupt", "no such table", "no such column", "no such index", "no such module",
    "already exists", "Could not decode to UTF-8", "constraint failed", "vtable constructor failed", "datatype mismatch",
    "unsupported file format", "unrecognized token", "syntax error", "duplicate column", "has no column",
)  # fmt: skip
"""What SQLite says of a file that is not as Preheat made it: its own statements are right, a test runs all of them."""


class FileConnection(sqlite3.Connection):
    """A connection to a file."""

    path = ""
    read_only = False
    copy = ""
    """A folder with a copy of the file, deleted with the connection; empty if there is none."""

    def close(self) -> None:
        super().close()
        if self.copy:
            shutil.rmtree(self.copy, ignore_errors=True)
            self.copy = ""


def open_database(
    path: str, wait: float, factory: type[FileConnection] = FileConnection, check_same_thread: bool = True
) -> FileConnection:
    """Open an existing file; read-only where it cannot be written. Raises sqlite3.DatabaseError."""
    options: dict[str, object] = {
        "timeout": wait,
        "isolation_level": None,
        "factory": factory,
        "check_same_thread": check_same_thread,
    }
    if _can_write(path) and _can_write(os.path.dirname(path) or os.curdir):
        connection: FileConnection = sqlite3.connect(path, **options)  # type: ignore[call-overload]
    else:
        connection = _open_read_only(path, options)
        connection.read_only = True
    connection.path = path
    return connection


def _can_write(path: str) -> bool:
    return os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def _open_read_only(path: str, options: dict[str, object]) -> FileConnection:
    """Open a file that cannot be written. SQLite reads a log beside it through a third file; where that is missing and cannot be
    made, the two are copied."""
    log = f"{path}-wal"
    if not os.path.exists(log) or not os.path.getsize(log):
        return _connect(f"{file_url(path)}?mode=ro&immutable=1", options)
    connection = _connect(f"{file_url(path)}?mode=ro", options)
    try:
        connection.execute("SELECT count(*) FROM sqlite_master")
    except sqlite3.OperationalError:
        connection.close()
        return _open_copy(path, options)
    return connection


def _open_copy(path: str, options: dict[str, object]) -> FileConnection:
    folder = tempfile.mkdtemp(prefix="preheat-")
    copy = os.path.join(folder, "copy.db")
    try:
        for ending in ("", "-wal"):
            _copy(path + ending, copy + ending)
        connection: FileConnection = sqlite3.connect(copy, **options)  # type: ignore[call-overload]
        connection.execute("PRAGMA query_only = ON")
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    connection.copy = folder
    return connection


def _copy(source: str, target: str) -> None:
    with open_file(source) as before, open(open_private(target, os.O_WRONLY | os.O_EXCL), "wb") as after:
        while block := before.read(_BLOCK):
            after.write(block)


def _connect(url: str, options: dict[str, object]) -> FileConnection:
    connection: FileConnection = sqlite3.connect(url, uri=True, **options)  # type: ignore[call-overload]
    return connection


def file_url(path: str) -> str:
    """The URL of a file, for options behind it."""
    return f"file:{''.join(f'%{ord(each):02x}' if each in '%?#' else each for each in path)}"


@contextmanager
def write_transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """A transaction that locks for writing from its start: readers see all of it or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
