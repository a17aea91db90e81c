"""The person's home folder and Preheat's own folder. Standard library only and light: every command starts here.

Knows nothing of what the folders hold.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def home_folder(environment: Mapping[str, str]) -> str:
    """The person's home folder."""
    if sys.platform == "win32":
        return environment.get("USERPROFILE") or os.path.expanduser("~")
    return environment.get("HOME") or os.path.expanduser("~")


def data_folder(environment: Mapping[str, str] | None = None) -> str:
    """`PREHEAT_HOME`, else the platform's folder for a program's data."""
    environment = os.environ if environment is None else environment
    if override := environment.get("PREHEAT_HOME"):
        return os.path.abspath(os.path.expanduser(override))
    if sys.platform == "darwin":
        return os.path.join(home_folder(environment), "Library", "Application Support", "preheat")
    if sys.platform == "win32":
        base = environment.get("LOCALAPPDATA") or os.path.join(home_folder(environment), "AppData", "Local")
        return os.path.join(base, "preheat")
    base = environment.get("XDG_DATA_HOME") or os.path.join(home_folder(environment), ".local", "share")
    return os.path.join(base, "preheat")


def archive_path(folder: str) -> str:
    """The path of the archive in Preheat's folder."""
    return os.path.join(folder, "archive.db")


def state_path(folder: str) -> str:
    """The path of the state, which cannot be rebuilt, beside the archive."""
    return os.path.join(folder, "state.db")
