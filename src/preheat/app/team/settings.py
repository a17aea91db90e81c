"""The team's section of `settings.toml`. Light: the work of quiet times asks for it."""

import msgspec

from preheat.settings_file import load_section


class TeamSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What is done for a team without being asked."""

    automatic: bool = False
    """Push to your team what you agreed to, and get its lessons, in quiet times; else only `preheat team` does."""


def load_team_settings(folder: str) -> TeamSettings:
    """The settings of a folder. Raises UserError."""
    return load_section(folder, "team", TeamSettings())
