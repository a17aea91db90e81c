"""The archive in a file of SQLite: one person, one machine. Light: every command that asks the archive starts here.

Knows no table, and nothing of how a file is made, upgraded or found damaged.
"""

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

from preheat.archive.database import Parameters
from preheat.archive.stamp import write_stamp
from preheat.settings import ARCHIVE_NAME
from preheat.sqlite_files.opening import FileConnection, open_database


class SqliteArchive(FileConnection):
    """A connection to the archive, which writes down how it leaves it."""

    kind: Literal["sqlite"] = "sqlite"
    found_as_left = False

    @property
    def folder(self) -> str:
        return os.path.dirname(self.path)

    def insert(self, statement: str, parameters: Parameters, /) -> int:
        number = self.execute(statement, parameters).lastrowid
        assert number is not None  # noqa: S101 - an INSERT always gives one
        return number

    def insert_rows(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        marks = ", ".join("?" * len(columns))
        self.executemany(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", rows)  # noqa: S608

    @contextmanager
    def transaction(self) -> Iterator[None]:
        self.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            if self.in_transaction:
                self.execute("ROLLBACK")
            raise
        self.execute("COMMIT")
        self.note_change()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        self.execute("BEGIN")
        try:
            yield
        finally:
            self.execute("COMMIT")

    def storable_text(self, text: str) -> str:
        return text

    def begin_secure_deletion(self) -> None:
        self.execute("PRAGMA secure_delete = ON")

    def overwrite_free_pages(self) -> None:
        self.execute("PRAGMA secure_delete = ON")
        self.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self.execute("VACUUM")
        self.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def find_damage(self) -> list[str]:
        try:
            return [each for (each,) in self.execute("PRAGMA quick_check(5)") if each != "ok"]
        except (
            sqlite3.DatabaseError,
            UnicodeDecodeError,
        ) as error:  # also SQLite's own message can be of damaged names
            return [str(error)]

    def size(self) -> int:
        return size_on_disk(self.path)

    def note_change(self) -> None:
        """Write down that the archive is as Preheat left it; to be called after a change."""
        if os.path.basename(self.path) == ARCHIVE_NAME and not self.read_only:
            write_stamp(self.path, self.found_as_left)

    def close(self) -> None:
        try:
            changed = self.total_changes > 0
        except sqlite3.ProgrammingError:  # closed before
            changed = False
        super().close()
        if changed:
            self.note_change()


def open_sqlite(path: str, wait: float) -> SqliteArchive:
    """Open an existing file; read-only where it cannot be written. Raises sqlite3.DatabaseError."""
    connection = open_database(path, wait, SqliteArchive)
    assert isinstance(connection, SqliteArchive)  # noqa: S101 - it was asked for
    return connection


def size_on_disk(path: str) -> int:
    """Bytes of a file of SQLite with its side files."""
    return sum(os.path.getsize(name) for name in (path, f"{path}-wal", f"{path}-shm") if os.path.exists(name))
