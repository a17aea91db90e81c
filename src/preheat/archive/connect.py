"""Opens the archive, and holds the lock that lets one sync run at a time. Light: every command that asks the archive starts here.

Knows nothing of the tables but the one that holds the version.
"""

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from preheat.errors import ArchiveBusy, ArchiveUnusable
from preheat.locking import hold_lock
from preheat.settings import archive_path

HEAD = "0007"
"""The newest migration; a test checks that."""


def connect(folder: str, wait: float = 30.0) -> sqlite3.Connection:
    """Open the archive in a folder, after creating or upgrading it where needed. Only its owner can read it."""
    path = archive_path(folder)
    if not os.path.exists(path):
        _create(folder, path)
    connection = _open(path, wait)
    try:
        version = _version(connection)
        if version != HEAD:
            connection.close()
            _upgrade_from(path, version)
            connection = _open(path, wait)
    except sqlite3.DatabaseError as error:
        connection.close()
        raise explain_database_error(path, error) from error
    return connection


def folder_of(connection: sqlite3.Connection) -> str:
    """The folder of an archive; empty for one in memory."""
    path = connection.execute("PRAGMA database_list").fetchone()[2]
    return os.path.dirname(path) if path else ""


def _open(path: str, wait: float) -> sqlite3.Connection:
    try:
        connection = sqlite3.connect(path, timeout=wait, isolation_level=None)
    except sqlite3.DatabaseError as error:
        raise explain_database_error(path, error) from error
    try:
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA wal_autocheckpoint = 4000")  # pages of 8 KB: a first sync writes a lot at once
    except sqlite3.DatabaseError as error:
        connection.close()
        raise explain_database_error(path, error) from error
    return connection


def _version(connection: sqlite3.Connection) -> str | None:
    try:
        row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    except sqlite3.OperationalError as error:
        if "no such table" in str(error):
            return None
        raise
    return row[0] if row else None


def _create(folder: str, path: str) -> None:
    """Create the archive under another name first, so that it appears complete or not at all."""
    before = os.umask(0o077)
    new = f"{path}.new-{os.getpid()}-{time.monotonic_ns()}"
    try:
        os.makedirs(folder, exist_ok=True)
        _upgrade(new)
        _put_in_place(new, path)
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


def _upgrade_from(path: str, version: str | None) -> None:
    if version is not None and version > HEAD:
        raise ArchiveUnusable(f"`{path}` was made by a newer Preheat (schema {version}); update this one")
    _upgrade(path)


def _upgrade(path: str) -> None:
    from preheat.archive.upgrade import upgrade  # noqa: PLC0415 - Alembic, only a new or an older archive needs it

    upgrade(path)


def explain_database_error(path: str, error: Exception) -> ArchiveBusy | ArchiveUnusable:
    """The exception that tells a person what a database error means and what to do."""
    text = str(error)
    if "locked" in text or "busy" in text:
        return ArchiveBusy(f"another program holds `{path}`; try again when it is done")
    if "full" in text:
        return ArchiveUnusable(f"the disk with `{path}` is full; free some room and run `preheat sync` again")
    if "I/O error" in text:
        return ArchiveUnusable(f"`{path}`: {text}; the disk is full or failing: free some room and try again")
    if "not a database" in text or "malformed" in text:
        return ArchiveUnusable(f"`{path}` is damaged ({text}); move it away and run `preheat sync` to build a new one")
    if "readonly" in text or "unable to open" in text:
        return ArchiveUnusable(f"`{path}` cannot be written ({text}); check its owner and permissions")
    return ArchiveUnusable(f"`{path}`: {text}")


# The lock that lets one sync run at a time.
@contextmanager
def hold_sync_lock(folder: str, wait: float, on_wait: Callable[[], None]) -> Iterator[None]:
    """Hold the sync lock of a folder; `on_wait` is called once if another process holds it. Raises ArchiveBusy after `wait` s."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    busy = ArchiveBusy(f"another sync has held `{folder}` for {wait:.0f} s; try again later")
    with hold_lock(os.path.join(folder, "sync.lock"), wait, busy, on_wait):
        yield
