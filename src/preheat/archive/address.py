"""Where the archive is: in Preheat's folder, or on a PostgreSQL server that the person named. Light: every command starts here.

`PREHEAT_ARCHIVE` names a server for Preheat's own folder, `[archive]` in `settings.toml` for the folder that it is in; a demo in
another folder never reaches the server. Knows nothing of databases.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from preheat.errors import ArchiveUnusable, UserError
from preheat.files import read_text
from preheat.settings import archive_path, data_folder

VARIABLE = "PREHEAT_ARCHIVE"
SETTINGS = "settings.toml"
_SCHEMES = ("postgresql://", "postgres://")
_MOST_SECONDS = 3600.0


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
        return _read_address(named, f"the variable {VARIABLE}", {})
    path = os.path.join(folder, SETTINGS)
    try:
        text = read_text(path)
    except (OSError, UnicodeError):  # what reads other settings says so
        return None
    if "[archive" not in text and "archive." not in text:
        return None
    from preheat.settings_file import read_section  # noqa: PLC0415 - most people have no such setting

    section = read_section(folder, "archive")
    unknown = sorted(section.keys() - {"address", "connect_seconds", "statement_seconds"})
    if unknown:
        raise UserError(f"`{path}`, below `[archive]`: there is no setting `{unknown[0]}`; take it out")
    address = section.get("address", "")
    if not isinstance(address, str):
        raise UserError(f"`{path}`, below `[archive]`: `address` is no text; write it in double quotes")
    return (
        _read_address(address.strip(), f"`address` below `[archive]` in `{path}`", section) if address.strip() else None
    )


def has_archive(folder: str) -> bool:
    """Whether a folder has an archive, here or on a server. Raises UserError."""
    return find_server(folder) is not None or os.path.exists(archive_path(folder))


def _is_own(folder: str) -> bool:
    return os.path.abspath(folder) == os.path.abspath(data_folder())


def _read_address(address: str, where: str, section: dict[str, object]) -> ServerAddress:
    if not address.startswith(_SCHEMES):
        raise ArchiveUnusable(
            f"{where} is no address of a PostgreSQL database; it must read `postgresql://USER@HOST:PORT/DATABASE`, "
            "or be empty for the archive in Preheat's folder"
        )
    if not address.partition("://")[2].partition("?")[0].rpartition("@")[2].partition("/")[2]:
        raise ArchiveUnusable(f"{where} names no database; it must read `postgresql://USER@HOST:PORT/DATABASE`")
    usual = ServerAddress(address)
    return usual._replace(
        connect_seconds=_read_seconds(section, "connect_seconds", usual.connect_seconds, where),
        statement_seconds=_read_seconds(section, "statement_seconds", usual.statement_seconds, where),
    )


def _read_seconds(section: dict[str, object], name: str, usual: float, where: str) -> float:
    value = section.get(name, usual)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 1 <= value <= _MOST_SECONDS:
        raise UserError(f"beside {where}: `{name}` must be a number of seconds from 1 to {_MOST_SECONDS:.0f}")
    return float(value)
