"""The database of one index: its place, its tables, and how it is opened.

One file for each root in `trees/` of Preheat's folder, for its owner only. Readers see the last finished step while another
process writes. A file that is damaged or of another version is made anew: everything in it can be read again. Knows no files.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from hashlib import blake2b

from preheat.files import make_private_folder, open_private
from preheat.sqlite_files.opening import file_url, write_transaction

FOLDER = "trees"
VERSION = 1
"""Of the tables and of what is in them; another one means that the index is built anew."""
_WAIT = 5.0
_SCHEMA = """
CREATE TABLE fact (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE file (
    document INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, name TEXT NOT NULL, stamp TEXT NOT NULL, kind TEXT NOT NULL,
    language TEXT NOT NULL, size INTEGER NOT NULL, is_test INTEGER NOT NULL, subject TEXT NOT NULL,
    terms INTEGER NOT NULL, path_terms INTEGER NOT NULL, symbol_count INTEGER NOT NULL, symbols BLOB NOT NULL,
    imports BLOB NOT NULL
);
CREATE INDEX file_name ON file (name);
CREATE INDEX file_subject ON file (subject) WHERE is_test;
CREATE TABLE segment (number INTEGER PRIMARY KEY, postings INTEGER NOT NULL);
CREATE TABLE posting (
    segment INTEGER NOT NULL, term TEXT NOT NULL, documents BLOB NOT NULL, PRIMARY KEY (segment, term)
) WITHOUT ROWID;
"""


def database_path(folder: str, root: str) -> str:
    """The path of the index of a root."""
    digest = blake2b(os.fsencode(root), digest_size=12).hexdigest()
    return os.path.join(folder, FOLDER, f"{digest}.db")


def database_paths(folder: str) -> list[str]:
    """Every index in Preheat's folder."""
    try:
        names = sorted(os.listdir(os.path.join(folder, FOLDER)))
    except OSError:
        return []
    return [os.path.join(folder, FOLDER, name) for name in names if name.endswith(".db")]


def delete_database(path: str, keep_lock: bool = False) -> None:
    """Delete an index with all that belongs to it; who holds its lock keeps that. Raises OSError."""
    for ending in ("", "-wal", "-shm", "-journal") if keep_lock else ("", "-wal", "-shm", "-journal", ".lock"):
        with suppress(FileNotFoundError):
            os.unlink(f"{path}{ending}")


def open_for_reading(path: str) -> sqlite3.Connection | None:
    """An index for reading; None if there is none that can be used."""
    if not os.path.exists(path):
        return None
    try:
        connection = sqlite3.connect(
            f"{file_url(path)}?mode=ro", uri=True, isolation_level=None, timeout=_WAIT, check_same_thread=False
        )
        try:
            if read_version(connection) == VERSION:
                return connection
        except BaseException:
            connection.close()
            raise
        connection.close()
    except sqlite3.Error:
        return None
    return None


def open_for_writing(path: str, root: str) -> sqlite3.Connection:
    """An index for writing, made anew if it cannot be used. Raises OSError and sqlite3.Error."""
    make_private_folder(os.path.dirname(path))
    connection = None
    if os.path.exists(path):
        with suppress(sqlite3.DatabaseError):
            connection = _connect(path)
            if read_version(connection) == VERSION:
                return connection
        if connection is not None:
            connection.close()
        delete_database(path, keep_lock=True)
    os.close(open_private(path, os.O_RDWR))
    connection = _connect(path)
    with write_transaction(connection):
        for statement in _SCHEMA.split(";"):
            connection.execute(statement)
        save_fact(connection, "root", os.fsencode(root))
        connection.execute(f"PRAGMA user_version = {VERSION}")
    return connection


def _connect(path: str) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, timeout=_WAIT)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA cache_size = -16000")
    return connection


def read_version(connection: sqlite3.Connection) -> int:
    found: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return found


@contextmanager
def snapshot(connection: sqlite3.Connection) -> Iterator[None]:
    """Everything that is read within it is of one moment."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")


def save_fact(connection: sqlite3.Connection, name: str, value: bytes) -> None:
    connection.execute("INSERT OR REPLACE INTO fact VALUES (?, ?)", (name, value))


def load_fact(connection: sqlite3.Connection, name: str) -> bytes:
    """A fact about the index; empty if it has none of this name."""
    row = connection.execute("SELECT value FROM fact WHERE name = ?", (name,)).fetchone()
    return bytes(row[0]) if row is not None else b""


def read_root(path: str) -> str:
    """The root that an index is of; empty if it cannot be read."""
    connection = open_for_reading(path)
    if connection is None:
        return ""
    with closing(connection), suppress(sqlite3.Error):
        return os.fsdecode(load_fact(connection, "root"))
    return ""
