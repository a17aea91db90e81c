"""What was installed where, and what was there before: kept in Preheat's folder, so that it can be undone to the byte.

Knows no agent. Without the ledger our hooks are still recognised, only exact restoring is lost.
"""

import hashlib
import os
from typing import Literal

import msgspec

from preheat.files import read_file, write_atomically

LEDGER_NAME = "installed.json"


class InstalledEntry(msgspec.Struct, frozen=True, kw_only=True):
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


class InstallLedger(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that is installed, oldest first."""

    version: int = 1
    files: list[InstalledEntry] = []


def digest_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def load_ledger(folder: str) -> InstallLedger:
    """The ledger; an empty one where there is none that can be read."""
    try:
        return msgspec.json.decode(read_file(os.path.join(folder, LEDGER_NAME)), type=InstallLedger)
    except (OSError, msgspec.DecodeError):
        return InstallLedger()


def find_entry(folder: str, path: str) -> InstalledEntry | None:
    """The entry of one path."""
    return next((each for each in load_ledger(folder).files if each.path == path), None)


def find_entries(folder: str, agent: str, kind: str) -> list[InstalledEntry]:
    """The entries of an agent, of one kind."""
    return [each for each in load_ledger(folder).files if each.agent == agent and each.kind == kind]


def record_entry(folder: str, path: str, installed: InstalledEntry | None) -> None:
    """Store the entry of a path, or remove it (None). Raises OSError."""
    files = [each for each in load_ledger(folder).files if each.path != path]
    if installed is not None:
        files.append(installed)
    write_atomically(
        os.path.join(folder, LEDGER_NAME), msgspec.json.encode(InstallLedger(files=files)), make_folders=True
    )
