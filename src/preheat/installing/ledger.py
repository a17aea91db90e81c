"""What was installed where, and what was there before: kept in Preheat's folder, so that it can be undone to the byte.

Knows no agent. Without the ledger our hooks are still recognised, only exact restoring is lost.
"""

import hashlib
import os
from typing import Literal

import msgspec

from preheat.files import write_whole

NAME = "installed.json"


class Installed(msgspec.Struct, frozen=True, kw_only=True):
    """One file that we put hooks into, one folder of ours, or one Python that we put packages into."""

    agent: str
    path: str
    at: float
    existed: bool
    """The file or folder existed before we installed."""
    backup: str = ""
    """The path of a copy from before, beside the file."""
    after: str
    """The digest of the file as we left it."""
    project: str = ""
    kind: Literal["file", "folder", "packages"] = "file"
    made: tuple[str, ...] = ()
    """Folders that were not there before, the innermost first."""
    keys: dict[str, int] = {}
    """Of a list in it, how many of the keys that lead to it were there before; the rest was made for our item."""
    files: dict[str, str] = {}
    """Of a folder, the digests of what we put there, by name."""
    packages: tuple[str, ...] = ()
    """Of a Python, exactly what was added to it, as `name==version`."""


class Ledger(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that is installed, oldest first."""

    version: int = 1
    files: list[Installed] = []


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def load(folder: str) -> Ledger:
    """The ledger; an empty one where there is none that can be read."""
    try:
        with open(os.path.join(folder, NAME), "rb") as stream:
            return msgspec.json.decode(stream.read(), type=Ledger)
    except (OSError, msgspec.DecodeError):
        return Ledger()


def entry(folder: str, path: str) -> Installed | None:
    """The entry of one path."""
    return next((each for each in load(folder).files if each.path == path), None)


def entries_of(folder: str, agent: str, kind: str) -> list[Installed]:
    """The entries of an agent, of one kind."""
    return [each for each in load(folder).files if each.agent == agent and each.kind == kind]


def note(folder: str, path: str, installed: Installed | None) -> None:
    """Store the entry of a path, or remove it (None). Raises OSError."""
    files = [each for each in load(folder).files if each.path != path]
    if installed is not None:
        files.append(installed)
    write_whole(os.path.join(folder, NAME), msgspec.json.encode(Ledger(files=files)), make_folders=True)
