"""Opens the state, which is created or upgraded first if needed. Light: the start of a session waits for it.

Knows none of the tables. Only its owner can read the file. `writing` is one transaction, on disk when it ends; `OpenState` is for
programs that must not wait for the disk.
"""

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Lock

import msgspec

from preheat.errors import StateUnusable, UserError
from preheat.files import make_private_folder, open_private
from preheat.locking import hold_lock
from preheat.settings import state_path
from preheat.sqlite_files.opening import SIGNS_OF_DAMAGE, open_database, write_transaction
from preheat.sqlite_files.replacement import finish
from preheat.state.earlier_files import has_earlier_files
from preheat.state.schema import HEAD, upgrade, version

PATIENCE = 30.0
"""Seconds that a command waits for another writer."""
HOOK_PATIENCE = 0.02
"""Seconds that a hook waits for another writer."""


@contextmanager
def reading(folder: str) -> Iterator[sqlite3.Connection]:
    """The state, for reading; an empty one if there is no file. Raises StateUnusable."""
    with _as_state_error(folder):
        connection = _open(folder, PATIENCE, make=False)
        try:
            yield connection
        finally:
            connection.close()


@contextmanager
def writing(folder: str) -> Iterator[sqlite3.Connection]:
    """The state, for writing in one transaction. Raises StateUnusable."""
    with _as_state_error(folder):
        connection = _open(folder, PATIENCE, make=True)
        try:
            with write_transaction(connection):
                yield connection
        finally:
            connection.close()


def clean_up(folder: str) -> None:
    """Empty the log beside the file, so that nothing deleted is left in it."""
    with reading(folder) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


class OpenState:
    """A connection that stays open, for a program that answers hooks: it waits only a moment for other writers, and never for the
    disk. Several threads may use it. Raises OSError."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._lock = Lock()
        self._connection: sqlite3.Connection | None = None
        self._file: tuple[int, int] | None = None
        with suppress(OSError), self._lock, _as_os_error(folder):
            # Files of an earlier version are imported now, not in a hook.
            self._current_connection(PATIENCE, make=False)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """For reading; an empty one if there is no file."""
        with self._lock, _as_os_error(self._folder):
            yield self._current_connection(HOOK_PATIENCE, make=False)

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """For writing in one transaction."""
        with self._lock, _as_os_error(self._folder):
            connection = self._current_connection(HOOK_PATIENCE, make=True)
            with write_transaction(connection):
                yield connection

    def _current_connection(self, wait: float, make: bool) -> sqlite3.Connection:
        """The connection; a new one if the file was replaced."""
        identity = _identity(state_path(self._folder))
        if self._connection is not None and identity == self._file and not (make and identity is None):
            return self._connection
        if self._connection is not None:
            self._connection.close()
        self._connection, self._file = None, None
        connection = _open(self._folder, wait, make)
        connection.execute(f"PRAGMA busy_timeout = {int(HOOK_PATIENCE * 1000)}")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA wal_autocheckpoint = 0")  # commands do that
        self._connection, self._file = connection, _identity(state_path(self._folder))
        return connection


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


# Opening.
def _open(folder: str, wait: float, make: bool) -> sqlite3.Connection:
    path = state_path(folder)
    has_old_files = has_earlier_files(folder)
    if not (make or has_old_files or os.path.exists(path)):
        return _open_empty()
    if not os.path.exists(path) and not finish(path):
        _create(folder, path)
    if not os.path.getsize(path):  # SQLite would take it for a new one, and the state is never made that way
        raise make_damage_error(path, "it is empty: 0 bytes")
    connection = open_database(path, wait, check_same_thread=False)
    try:
        connection.execute("PRAGMA secure_delete = ON")  # deleted rows are overwritten
        connection.execute("PRAGMA cell_size_check = ON")  # damaged pages are noticed when they are read
        file_version = version(connection)
        if file_version > HEAD:
            raise StateUnusable(f"`{path}` was made by a newer Preheat (version {file_version} of it); update this one")
        if file_version < HEAD and connection.read_only:
            raise StateUnusable(
                f"`{path}` was made by an earlier Preheat and cannot be written; copy it elsewhere first"
            )
        if file_version < 1:
            raise make_damage_error(path, "no state of Preheat, or its version is lost")
        if (file_version < HEAD or has_old_files) and not connection.read_only:
            _upgrade_file(connection, folder, wait)
    except BaseException:
        connection.close()
        raise
    return connection


def _create(folder: str, path: str) -> None:
    """Create the file under another name first, so that it appears with its tables or not at all."""
    make_private_folder(folder)
    new = f"{path}.new-{os.getpid()}-{os.urandom(4).hex()}"
    try:
        make_file(new)
        with suppress(FileExistsError):
            os.link(new, path)
    except OSError:  # a file system without links
        if not os.path.exists(new):
            raise
        os.rename(new, path)
    finally:
        for name in (new, f"{new}-wal", f"{new}-shm"):
            if os.path.exists(name):
                os.unlink(name)


def make_file(path: str) -> None:
    """Make an empty state at a path. Raises sqlite3.DatabaseError and OSError."""
    os.close(open_private(path, os.O_RDWR))
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        if connection.execute("PRAGMA journal_mode = WAL").fetchone()[0] != "wal":
            raise StateUnusable(f"`{path}` is on a file system without write-ahead logs; set PREHEAT_HOME elsewhere")
        with write_transaction(connection):
            upgrade(connection)
    finally:
        connection.close()


def _open_empty() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    upgrade(connection)
    return connection


def _upgrade_file(connection: sqlite3.Connection, folder: str, wait: float) -> None:
    """Create the tables and import the files of version 0.1.0, in one transaction. The files are renamed only afterwards, so that
    a process that is killed in between leaves them for the next one."""
    from preheat.state import migration  # noqa: PLC0415 - it imports every table, and is needed once

    with hold_state_lock(folder, wait), migration.hold_locks(folder, wait):
        with write_transaction(connection):
            upgrade(connection)
            files = migration.import_files(connection, folder)
        migration.rename_imported(files)


@contextmanager
def hold_state_lock(folder: str, wait: float = PATIENCE) -> Iterator[None]:
    """The lock of whoever prepares or replaces the file. Raises StateUnusable after `wait` seconds."""
    path = state_path(folder)
    busy = StateUnusable(f"another program prepares `{path}`; try again when it is done")
    with hold_lock(f"{path}.lock", wait, busy):
        yield


# Errors.
@contextmanager
def _as_state_error(folder: str) -> Iterator[None]:
    """Raises errors of the database as `StateUnusable`."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise _unusable(state_path(folder), str(error)) from error
    except (UnicodeDecodeError, msgspec.DecodeError) as error:  # also SQLite's own message can be of damaged names
        raise make_damage_error(state_path(folder), "a value in it cannot be read") from error
    except OSError as error:
        raise _unusable(state_path(folder), error.strerror or str(error)) from error


@contextmanager
def _as_os_error(folder: str) -> Iterator[None]:
    """Raises errors of the database as `OSError`."""
    try:
        yield
    except (UserError, UnicodeDecodeError, msgspec.DecodeError) as error:
        raise OSError(errno.EIO, str(error)) from error
    except sqlite3.DatabaseError as error:
        text = str(error)
        if "locked" in text or "busy" in text:
            raise OSError(errno.EBUSY, "another program writes there") from error
        if "full" in text:
            raise OSError(errno.ENOSPC, "the disk is full") from error
        raise OSError(errno.EIO, f"`{state_path(folder)}`: {text}") from error


def make_damage_error(path: str, why: str) -> StateUnusable:
    """The error of a damaged file."""
    return StateUnusable(f"`{path}` is damaged ({why}); `preheat admin doctor --repair` saves what is whole")


def _unusable(path: str, text: str) -> StateUnusable:
    if "locked" in text or "busy" in text:
        return StateUnusable(f"another program holds `{path}`; try again when it is done")
    if "full" in text or "I/O error" in text:
        return StateUnusable(
            f"`{path}` could not be written ({text}); nothing was changed: free some room and try again"
        )
    if any(sign in text for sign in SIGNS_OF_DAMAGE):
        return make_damage_error(path, text)
    return StateUnusable(f"`{path}` cannot be used ({text}); nothing was changed")
