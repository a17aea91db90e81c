"""Opens the state, made or brought up to date first where needed. Light: a session's start pays for it.

Knows none of the tables. Only its owner can read the file. What is written by `writing` is on the disk afterwards, or nothing
of it is; `OpenState` is for whoever must not wait for the disk.
"""

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Lock

from preheat.errors import StateUnusable, UserError
from preheat.files import private_folder
from preheat.locking import held
from preheat.settings import state_path
from preheat.state.earlier_files import waiting
from preheat.state.schema import HEAD, upgrade, version

PATIENCE = 30.0
"""Seconds that a command waits for another writer."""
MOMENT = 0.02
"""Seconds that a hook waits for one."""


@contextmanager
def reading(folder: str) -> Iterator[sqlite3.Connection]:
    """The state, for asking; an empty one where nothing was ever kept. Raises StateUnusable."""
    with _said(folder):
        connection = _opened(folder, PATIENCE, make=False)
        try:
            yield connection
        finally:
            connection.close()


@contextmanager
def writing(folder: str) -> Iterator[sqlite3.Connection]:
    """The state, in one transaction. Raises StateUnusable."""
    with _said(folder):
        connection = _opened(folder, PATIENCE, make=True)
        try:
            with _transaction(connection):
                yield connection
        finally:
            connection.close()


def clean_up(folder: str) -> None:
    """Have nothing of what was deleted left in the log beside the file."""
    with reading(folder) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


class OpenState:
    """One connection that stays open, for a program that answers hooks: it waits a moment for other writers, and never for the
    disk, as the last connection that closes would. Several threads may use it. Raises OSError."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._lock = Lock()
        self._connection: sqlite3.Connection | None = None
        self._file: tuple[int, int] | None = None
        with suppress(OSError), self._lock, _as_os_error(folder):
            self._current(PATIENCE, make=False)  # what an earlier version left is taken in now, and not in a hook

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """For asking; an empty one where nothing was ever kept."""
        with self._lock, _as_os_error(self._folder):
            yield self._current(MOMENT, make=False)

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """In one transaction."""
        with self._lock, _as_os_error(self._folder):
            connection = self._current(MOMENT, make=True)
            with _transaction(connection):
                yield connection

    def _current(self, wait: float, make: bool) -> sqlite3.Connection:
        """The connection; another one where the file is not the one that was opened."""
        there = _identity(state_path(self._folder))
        if self._connection is not None and there == self._file and not (make and there is None):
            return self._connection
        if self._connection is not None:
            self._connection.close()
        self._connection, self._file = None, None
        connection = _opened(self._folder, wait, make)
        connection.execute(f"PRAGMA busy_timeout = {int(MOMENT * 1000)}")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA wal_autocheckpoint = 0")  # commands see to that
        self._connection, self._file = connection, _identity(state_path(self._folder))
        return connection


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


# Opening.
def _opened(folder: str, wait: float, make: bool) -> sqlite3.Connection:
    path = state_path(folder)
    left = waiting(folder)
    if not (make or left or os.path.exists(path)):
        return _empty()
    private_folder(folder)
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    connection = sqlite3.connect(path, timeout=wait, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA secure_delete = ON")  # what is forgotten is gone
        now = version(connection)
        if now > HEAD:
            raise StateUnusable(f"`{path}` was made by a newer Preheat (version {now} of it); update this one")
        if now < HEAD or left:
            _bring_up(connection, folder, wait)
    except BaseException:
        connection.close()
        raise
    return connection


def _empty() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    upgrade(connection)
    return connection


def _bring_up(connection: sqlite3.Connection, folder: str, wait: float) -> None:
    """Make the tables, and take in what version 0.1.0 kept elsewhere: one transaction. Its files are put aside only then, so
    that whoever is killed in between leaves them where the next one finds them."""
    from preheat.state import migration  # noqa: PLC0415 - it imports every table, and is needed once

    path = state_path(folder)
    busy = StateUnusable(f"another program prepares `{path}`; try again when it is done")
    with held(f"{path}.lock", wait, busy), migration.locked(folder, wait):
        if connection.execute("PRAGMA journal_mode = WAL").fetchone()[0] != "wal":
            raise StateUnusable(f"`{path}` is on a file system without write-ahead logs; set PREHEAT_HOME elsewhere")
        with _transaction(connection):
            upgrade(connection)
            files = migration.take_in(connection, folder)
        migration.put_aside(files)


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Taken for writing from its start."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


# What goes wrong.
@contextmanager
def _said(folder: str) -> Iterator[None]:
    """Errors of the database as what they mean to a person."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise _unusable(state_path(folder), str(error)) from error
    except OSError as error:
        raise _unusable(state_path(folder), error.strerror or str(error)) from error


@contextmanager
def _as_os_error(folder: str) -> Iterator[None]:
    try:
        yield
    except UserError as error:
        raise OSError(errno.EIO, str(error)) from error
    except sqlite3.DatabaseError as error:
        text = str(error)
        if "locked" in text or "busy" in text:
            raise OSError(errno.EBUSY, "another program writes there") from error
        if "full" in text:
            raise OSError(errno.ENOSPC, "the disk is full") from error
        raise OSError(errno.EIO, f"`{state_path(folder)}`: {text}") from error


def _unusable(path: str, text: str) -> StateUnusable:
    if "locked" in text or "busy" in text:
        return StateUnusable(f"another program holds `{path}`; try again when it is done")
    if "full" in text or "I/O error" in text:
        return StateUnusable(
            f"`{path}` could not be written ({text}); nothing was changed: free some room and try again"
        )
    if "not a database" in text or "malformed" in text:
        return StateUnusable(f"`{path}` is damaged ({text}); put a copy in its place: what is in it cannot be rebuilt")
    return StateUnusable(f"`{path}` cannot be used ({text}); nothing was changed")
