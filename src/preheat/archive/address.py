"""Where the archive is: in Preheat's folder, or on a PostgreSQL server that the person named. Light: every command starts here.

`PREHEAT_ARCHIVE` names a server for Preheat's own folder, `[archive]` in `settings.toml` for the folder that it is in; a demo in
another folder never reaches the server. Knows nothing of databases.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from preheat.errors import ArchiveUnusable
from preheat.files import read_text
from preheat.settings import archive_path, data_folder

VARIABLE = "PREHEAT_ARCHIVE"
SETTINGS = "settings.toml"
_SCHEMES = ("postgresql://", "postgres://")


class ServerAddress(NamedTuple):
    """A database on a PostgreSQL server."""

    url: str
    """As libpq takes it; it may hold a password, so it is never shown, stored or logged."""
    connect_seconds: float = 5.0
    """Seconds after which a server that does not answer counts as gone."""
    statement_seconds: float = 300.0
    """Seconds after which a statement is given up."""

    @property
    def shown(self) -> str:
        """The address as it may be shown: without a password, and without parameters, which can hold one."""
        scheme, _, rest = self.url.partition("://")
        place = rest.partition("?")[0]
        people, at, host = place.rpartition("@")
        return f"{scheme}://{people.partition(':')[0]}{at}{host}"


def find_server(folder: str) -> ServerAddress | None:
    """The server that keeps the archive of a folder; None: it is in the folder. Raises UserError."""
    return _look_up(folder)


def _look_up(folder: str) -> ServerAddress | None:
    if (named := os.environ.get(VARIABLE, "").strip()) and _is_own(folder):
        return _check_address(ServerAddress(named), f"the variable {VARIABLE}")
    path = os.path.join(folder, SETTINGS)
    try:
        text = read_text(path)
    except (OSError, UnicodeError):  # what reads other settings says so
        return None
    if "archive" not in text:
        return None
    from preheat.archive.server_settings import load_server_settings  # noqa: PLC0415 - most people have no such setting

    found = load_server_settings(folder)
    if not found.address.strip():
        return None
    address = ServerAddress(found.address.strip(), found.connect_seconds, found.statement_seconds)
    return _check_address(address, f"`address` below `[archive]` in `{path}`")


def has_archive(folder: str) -> bool:
    """Whether a folder has an archive, here or on a server. Raises UserError."""
    return find_server(folder) is not None or os.path.exists(archive_path(folder))


def _is_own(folder: str) -> bool:
    return os.path.abspath(folder) == os.path.abspath(data_folder())


def _check_address(address: ServerAddress, where: str) -> ServerAddress:
    if not address.url.startswith(_SCHEMES):
        raise ArchiveUnusable(
            f"{where} is no address of a PostgreSQL database; it must read `postgresql://USER@HOST:PORT/DATABASE`, "
            "or be empty for the archive in Preheat's folder"
        )
    if not address.shown.partition("://")[2].rpartition("@")[2].partition("/")[2]:
        raise ArchiveUnusable(f"{where} names no database; it must read `postgresql://USER@HOST:PORT/DATABASE`")
    return address
