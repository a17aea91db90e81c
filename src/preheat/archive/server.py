"""Opens the archive on a server: connects, and creates or upgrades its tables where needed. Loaded only where one is configured.

Knows nothing of what is stored.
"""

import time
from typing import Any

import psycopg

from preheat.archive.address import ServerAddress
from preheat.archive.postgresql import PostgresqlArchive, connection_options, is_keeping, keep_connections, open_server
from preheat.archive.server_errors import explain_server_error
from preheat.errors import ArchiveUnusable

__all__ = ["connect_server", "keep_connections"]

_UPGRADING = 0x707265686561_02
"""The advisory lock of who upgrades the tables: two machines take turns."""
_GOOD_FOR = 60.0
"""Seconds for which a program that asks all the time believes that the tables are of its version."""
_CHECKED: dict[tuple[ServerAddress, str], float] = {}


def connect_server(address: ServerAddress, folder: str, head: str, wait: float) -> PostgresqlArchive:
    """The archive on a server, with tables of revision `head`. Raises ServerGone if it cannot be reached, ArchiveUnusable."""
    connection = open_server(address, folder, wait)
    try:
        if is_keeping() and time.monotonic() < _CHECKED.get((address, head), 0.0) + _GOOD_FOR:
            return connection
        version = _find_version(connection)
        if version != head:
            _check_version(address, version, head)
            _upgrade(address, folder)
        _CHECKED[address, head] = time.monotonic()
    except BaseException:
        connection.close()
        raise
    return connection


def _find_version(connection: PostgresqlArchive) -> str:
    """The version of the tables; empty where there are none yet."""
    row = connection.execute("SELECT to_regclass('alembic_version') IS NOT NULL").fetchone()
    if not row[0]:
        return ""
    row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    return str(row[0]) if row else ""


def _check_version(address: ServerAddress, version: str, head: str) -> None:
    if version and not version.isdigit():
        raise ArchiveUnusable(f"`{address.shown}` belongs to another program; name a database of Preheat's own")
    if version > head:
        raise ArchiveUnusable(
            f"`{address.shown}` was made by a newer Preheat (schema {version}, this one has {head}); update this one"
        )


def _upgrade(address: ServerAddress, folder: str) -> None:
    from preheat.archive.upgrade import upgrade_server  # noqa: PLC0415 - Alembic, only a new or an older archive needs it

    def open_connection() -> Any:
        return psycopg.connect(address.url, **connection_options(address))

    try:
        upgrade_server(open_connection, folder, _UPGRADING)
    except psycopg.Error as error:
        raise explain_server_error(address, error) from error
