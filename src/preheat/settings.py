"""The person's home folder and Preheat's own folder. Standard library only and light: every command starts here.

Knows nothing of what the folders hold.
"""

from __future__ import annotations

import os
import sys

from preheat.errors import FolderRefused
from preheat.files import read_text
from preheat.ownership import explain_refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def home_folder(environment: Mapping[str, str]) -> str:
    """The person's home folder."""
    if sys.platform == "win32":
        return environment.get("USERPROFILE") or os.path.expanduser("~")
    return environment.get("HOME") or os.path.expanduser("~")


def data_folder(environment: Mapping[str, str] | None = None) -> str:
    """`PREHEAT_HOME`, else the platform's folder for a program's data. Raises FolderRefused if it is not the user's alone."""
    environment = os.environ if environment is None else environment
    home = home_folder(environment)
    if named := environment.get("PREHEAT_HOME"):
        return own_folder(os.path.expanduser(named), home)
    if sys.platform == "darwin":
        return own_folder(os.path.join(home, "Library", "Application Support", "preheat"))
    if sys.platform == "win32":
        base = environment.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
        return os.path.join(base, "preheat")
    base = environment.get("XDG_DATA_HOME", "")
    # A relative one is to be ignored, says the specification of these variables.
    return own_folder(os.path.join(base if os.path.isabs(base) else os.path.join(home, ".local", "share"), "preheat"))


def own_folder(folder: str, home: str | None = None) -> str:
    """A folder that is the user's alone, or can be made so; with a `home` not in a repository either. Raises FolderRefused."""
    folder = os.path.abspath(folder) if os.path.isabs(folder) else folder
    if why := explain_refusal(folder, home):
        raise FolderRefused(f"Preheat's folder `{folder}` is not used: {why}")
    return folder


ARCHIVE_NAME = "archive.db"


def environment_for(folder: str) -> dict[str, str]:
    """The variables of a process that is to work in a folder. A server that is named for the person's own folder is not passed on
    to another one: a demo must not reach it."""
    environment = {**os.environ, "PREHEAT_HOME": folder}
    if "PREHEAT_ARCHIVE" in environment and os.path.abspath(folder) != os.path.abspath(data_folder()):
        del environment["PREHEAT_ARCHIVE"]
    return environment


def may_have_server(folder: str, environment: Mapping[str, str]) -> bool:
    """Whether a server may keep the archive: cheap to ask, and never wrong where none does."""
    if environment.get("PREHEAT_ARCHIVE"):
        return True
    try:
        return "archive" in read_text(os.path.join(folder, "settings.toml"))
    except (OSError, UnicodeError):
        return False


def archive_path(folder: str) -> str:
    """The path of the archive in Preheat's folder."""
    return os.path.join(folder, ARCHIVE_NAME)


def state_path(folder: str) -> str:
    """The path of the state, which cannot be rebuilt, beside the archive."""
    return os.path.join(folder, "state.db")
