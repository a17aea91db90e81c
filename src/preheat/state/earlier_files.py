"""The files in which version 0.1.0 kept its state: their paths, and whether any is to be imported.

Knows nothing of their content (`migration` does). Light: opening the state looks for them first.
"""

import os
from typing import TypeAlias

from preheat.state.schema import SECRET_BYTES

Place: TypeAlias = tuple[str, str]

KEY, HEAD = ("experiments", "key"), ("experiments", "ledger.head")
PLANS, LOTS = ("experiments", "plans.jsonl"), ("experiments", "lots.jsonl")
RATINGS, LEDGER = ("experiments", "ratings.jsonl"), ("experiments", "ledger.jsonl")
LOADED, USES = ("templates", "loaded.json"), ("templates", "uses.jsonl")
FILES = (KEY, PLANS, LOTS, RATINGS, LEDGER, USES, LOADED)


def waiting(folder: str) -> bool:
    """Whether there is anything to import."""
    return any(os.path.exists(path_of(folder, place)) for place in FILES if place != KEY) or (
        secret_in(folder) is not None
    )


def path_of(folder: str, place: Place) -> str:
    return os.path.join(folder, *place)


def secret_in(folder: str) -> bytes | None:
    """The secret key in its file; None if there is none, or the file is damaged."""
    try:
        found = bytes.fromhex(bytes_in(path_of(folder, KEY)).decode("ascii", "replace").strip())
    except ValueError:
        return None
    return found if len(found) == SECRET_BYTES else None


def bytes_in(path: str) -> bytes:
    """The bytes of a file; none if it does not exist."""
    try:
        with open(path, "rb") as stream:
            return stream.read()
    except FileNotFoundError:
        return b""
