"""The settings of an archive on a server, below `[archive]` in `settings.toml`. Loaded only where that section stands.

Knows nothing of databases.
"""

from typing import Annotated

import msgspec

from preheat.settings_file import load_section

HEADING = "archive"
_Seconds = Annotated[float, msgspec.Meta(ge=1, le=3600)]


class ServerSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings of an archive on a server."""

    address: str = ""
    """`postgresql://USER@HOST:PORT/DATABASE`: the archive is there. Empty: in Preheat's folder. A password is better kept in
    `~/.pgpass`; it is never shown."""
    connect_seconds: _Seconds = 5.0
    """Seconds after which a server that does not answer counts as gone."""
    statement_seconds: _Seconds = 300.0
    """Seconds after which a question to the server is given up."""


DEFAULTS = ServerSettings()


def load_server_settings(folder: str) -> ServerSettings:
    """The settings in Preheat's folder, with defaults for the missing ones. Raises UserError."""
    return load_section(folder, HEADING, DEFAULTS)
