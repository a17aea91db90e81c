"""Opens the archive, and holds the lock that lets one sync run at a time. Light: every command that asks the archive starts here.

Knows nothing of the tables but the one that holds the version.
"""

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from typing import Protocol

from preheat.archive.address import ServerAddress, find_server, has_archive
from preheat.archive.database import ArchiveConnection
from preheat.archive.sqlite import SqliteArchive, open_sqlite
from preheat.archive.stamp import is_as_left, is_ours, write_stamp
from preheat.errors import ArchiveBusy, ArchiveDamaged, ArchiveUnusable, UserError
from preheat.files import make_private_folder, open_private
from preheat.locking import hold_lock
from preheat.settings import archive_path
from preheat.sqlite_files.opening import SIGNS_OF_DAMAGE
from preheat.sqlite_files.replacement import finish

HEAD = "0010"
"""The newest migration; a test checks that."""


def connect(folder: str, wait: float = 30.0) -> ArchiveConnection:
    """Open the archive of a folder, in the folder or on the server that the person named, after creating or upgrading it where
    needed; read-only where it cannot be written. Raises ServerGone if the server cannot be reached."""
    if (address := find_server(folder)) is not None:
        return _load_driver().connect_server(address, folder, HEAD, wait)
    return connect_local(folder, wait)


def connect_local(folder: str, wait: float = 30.0) -> SqliteArchive:
    """Open the archive in a folder, also where a server keeps the real one: then this holds what waits for the server, and what
    hooks need to know without asking it."""
    path = archive_path(folder)
    if not os.path.exists(path) and not finish(path):
        _create(folder, path)
    try:
        connection = _open(path, wait)
        version = _version(connection)
        if version != HEAD:
            connection.close()
            _upgrade_from(path, version, connection.read_only)
            connection = _open(path, wait)
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        raise explain_database_error(path, error) from error
    return connection


def server_stamp(folder: str) -> str:
    """Changes with every change of the archive on a server; empty where there is none, or while it does not answer."""
    if find_server(folder) is None:
        return ""
    with suppress(UserError), closing(connect(folder)) as connection:
        number = connection.execute("SELECT number FROM archive_changes").fetchone()[0]
        return f" {number}"
    return ""


def connect_for_hooks(folder: str) -> SqliteArchive:
    """The lessons and projects of an archive, which must be at hand at once: those of a server are copied into the folder."""
    return connect_local(folder)


def keep_connections(folder: str) -> None:
    """Keep connections to a server for the next question: for a program that answers many."""
    with suppress(UserError):
        if find_server(folder) is not None:
            _load_driver().keep_connections()


def _load_driver() -> "Driver":
    """What talks to a server. Raises ArchiveUnusable where the driver is not installed."""
    try:
        from preheat.archive import server  # noqa: PLC0415 - most people have none, and the driver is an extra
    except ImportError as error:
        raise ArchiveUnusable(
            "an archive on PostgreSQL needs the driver for it: `pip install 'preheat[postgresql]'`"
        ) from error
    return server


class Driver(Protocol):
    """What is needed of `server.py`."""

    def connect_server(self, address: ServerAddress, folder: str, head: str, wait: float) -> ArchiveConnection: ...

    def keep_connections(self) -> None: ...


def find_archive_fault(folder: str) -> str:
    """Why the archive in a folder cannot be read, with what to do about it; empty if it can, or if there is none yet."""
    path = archive_path(folder)
    try:
        if not has_archive(folder):
            return ""
        with closing(connect(folder)) as connection:
            for table in ("sessions", "lessons"):
                connection.execute(f"SELECT * FROM {table} LIMIT 1").fetchone()  # noqa: S608 - our own
    except UserError as error:
        return str(error)
    except sqlite3.DatabaseError as error:
        return str(explain_database_error(path, error))
    return ""


def open_new(path: str) -> ArchiveConnection:
    """Make an empty archive at a path, and open it."""
    before = os.umask(0o077)
    try:
        _upgrade(path)
        return _open(path, 30.0)
    finally:
        os.umask(before)


def check_if_changed(connection: ArchiveConnection) -> None:
    """Check the pages of the archive if something other than Preheat has changed its file, or a program was killed while it
    wrote. Raises ArchiveDamaged."""
    if isinstance(connection, SqliteArchive) and not is_as_left(connection.path):
        for why in connection.find_damage():
            raise ArchiveDamaged(why, connection.path)
        connection.note_change()


def _open(path: str, wait: float) -> SqliteArchive:
    if not os.path.getsize(path):  # SQLite would take it for a new one, and an archive is never made that way
        raise ArchiveDamaged("it is empty: 0 bytes", path)
    connection = open_sqlite(path, wait)
    connection.found_as_left = is_ours(path)
    try:
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA cell_size_check = ON")  # damaged pages are noticed when they are read
        connection.execute("PRAGMA wal_autocheckpoint = 4000")  # pages of 8 KB: a first sync writes a lot at once
    except BaseException:
        connection.close()
        raise
    return connection


def _version(connection: SqliteArchive) -> str:
    """The version of the tables. Raises ArchiveDamaged if there is none: an archive appears complete or not at all."""
    try:
        row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    except sqlite3.DatabaseError as error:
        connection.close()
        if "no such table" in str(error):
            raise ArchiveDamaged("no archive of Preheat, or its list of tables is lost", connection.path) from error
        raise
    if row is None or not isinstance(row[0], str) or not row[0].isdigit():
        connection.close()
        raise ArchiveDamaged("the version of its tables is lost", connection.path)
    version: str = row[0]
    return version


def _create(folder: str, path: str) -> None:
    """Create the archive under another name first, so that it appears complete or not at all."""
    before = os.umask(0o077)
    new = f"{path}.new-{os.getpid()}-{time.monotonic_ns()}"
    try:
        make_private_folder(folder)
        _upgrade(new)
        _put_in_place(new, path)
        write_stamp(path, ours=True)
    except OSError as error:
        raise ArchiveUnusable(
            f"no archive can be made in `{folder}`: {error.strerror}; set PREHEAT_HOME to a folder that can be written"
        ) from error
    except sqlite3.DatabaseError as error:
        raise explain_database_error(path, error) from error
    finally:
        os.umask(before)
        for name in (new, f"{new}-wal", f"{new}-shm"):
            if os.path.exists(name):
                os.unlink(name)


def _put_in_place(new: str, path: str) -> None:
    """Move the new archive into place, unless another process made one meanwhile."""
    try:
        os.link(new, path)
    except FileExistsError:
        pass
    except OSError:  # a file system without links
        if not os.path.exists(path):
            os.rename(new, path)


def _upgrade_from(path: str, version: str, read_only: bool) -> None:
    if version > HEAD:
        raise ArchiveUnusable(f"`{path}` was made by a newer Preheat (schema {version}); update this one")
    if read_only:
        raise ArchiveUnusable(
            f"`{path}` was made by an earlier Preheat (schema {version}) and cannot be written; copy it to another folder "
            "and set PREHEAT_HOME to that"
        )
    ours = is_ours(path)
    _upgrade(path)
    write_stamp(path, ours)


def _upgrade(path: str) -> None:
    from preheat.archive.upgrade import upgrade  # noqa: PLC0415 - Alembic, only a new or an older archive needs it

    upgrade(path)


def explain_database_error(path: str, error: Exception) -> ArchiveBusy | ArchiveUnusable:
    """The exception that tells a person what a database error means and what to do."""
    if isinstance(error, ArchiveDamaged):
        return error.at(path)
    text = str(error)
    if not isinstance(error, sqlite3.Error):
        return ArchiveDamaged(f"reading it gives {type(error).__name__}: {text}", path)
    if "locked" in text or "busy" in text:
        return ArchiveBusy(f"another program holds `{path}`; try again when it is done")
    if "full" in text:
        return ArchiveUnusable(f"the disk with `{path}` is full; free some room and run `preheat sync` again")
    if "I/O error" in text:
        return ArchiveUnusable(
            f"`{path}`: {text}; the disk is full or failing: free some room and try again; "
            "`preheat admin doctor --repair` saves what can be read"
        )
    if any(sign in text for sign in SIGNS_OF_DAMAGE):
        return ArchiveDamaged(text, path)
    if "readonly" in text or "unable to open" in text:
        return ArchiveUnusable(f"`{path}` cannot be written ({text}); check its owner and permissions")
    return ArchiveUnusable(f"`{path}`: {text}")


# The lock that lets one sync run at a time.
@contextmanager
def hold_sync_lock(folder: str, wait: float, on_wait: Callable[[], None]) -> Iterator[None]:
    """Hold the sync lock of a folder; `on_wait` is called once if another process holds it. Raises ArchiveBusy after `wait` s."""
    lock = os.path.join(folder, "sync.lock")
    try:
        make_private_folder(folder)
        os.close(open_private(lock, os.O_RDWR))
    except OSError as error:
        raise ArchiveUnusable(
            f"`{folder}` cannot be written ({error.strerror}); check its owner and permissions"
        ) from error
    busy = ArchiveBusy(f"another sync has held `{folder}` for {wait:.0f} s; try again later")
    with hold_lock(lock, wait, busy, on_wait):
        yield
