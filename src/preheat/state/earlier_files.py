"""The files in which version 0.1.0 kept its state: their paths, and whether any is to be imported.

Knows nothing of their content (`migration` does). Light: opening the state looks for them first.
"""

import os
from typing import TypeAlias

from preheat.files import read_file
from preheat.state.schema import SECRET_BYTES

FilePlace: TypeAlias = tuple[str, str]

KEY_FILE, LEDGER_HEAD = ("experiments", "key"), ("experiments", "ledger.head")
PLANS_FILE, ASSIGNMENTS_FILE = ("experiments", "plans.jsonl"), ("experiments", "lots.jsonl")
RATINGS_FILE, LEDGER_FILE = ("experiments", "ratings.jsonl"), ("experiments", "ledger.jsonl")
LOADS_FILE, USES_FILE = ("templates", "loaded.json"), ("templates", "uses.jsonl")
EARLIER_FILES = (KEY_FILE, PLANS_FILE, ASSIGNMENTS_FILE, RATINGS_FILE, LEDGER_FILE, USES_FILE, LOADS_FILE)


def has_earlier_files(folder: str) -> bool:
    """Whether there is anything to import."""
    return any(os.path.exists(earlier_path(folder, place)) for place in EARLIER_FILES if place != KEY_FILE) or (
        read_secret(folder) is not None
    )


def earlier_path(folder: str, place: FilePlace) -> str:
    """The path of a file of version 0.1.0."""
    return os.path.join(folder, *place)


def read_secret(folder: str) -> bytes | None:
    """The secret key in its file; None if there is none, or the file is damaged."""
    try:
        found = bytes.fromhex(read_bytes(earlier_path(folder, KEY_FILE)).decode("ascii", "replace").strip())
    except ValueError:
        return None
    return found if len(found) == SECRET_BYTES else None


def read_bytes(path: str) -> bytes:
    """The bytes of a file; none if it does not exist."""
    try:
        return read_file(path)
    except FileNotFoundError:
        return b""
