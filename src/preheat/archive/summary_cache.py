"""A summary of the archive kept beside it, so that the first screen need not compute it anew while nothing changes.

Only a short cut: it is ignored unless archive and state are exactly as they were when it was written. It is deleted with
sessions, because it may quote them. Knows nothing of what is in it.
"""

from __future__ import annotations

import os

from preheat.archive.stamp import archive_stamp
from preheat.files import read_file, write_atomically
from preheat.settings import archive_path, state_path

CACHE_NAME = "summary"
_LARGEST = 4 * 1024 * 1024


def load(folder: str, key: str) -> bytes | None:
    """What was kept under this key; None if it is not of this archive and state as they are now."""
    try:
        first, _, rest = read_file(os.path.join(folder, CACHE_NAME), _LARGEST).partition(b"\n")
        return rest if first.decode() == f"{_stamp(folder)} {key}" else None
    except (OSError, UnicodeError):
        return None


def save(folder: str, key: str, data: bytes) -> None:
    """Keep a summary of the archive as it is. Errors are ignored: it is only a short cut."""
    try:
        write_atomically(os.path.join(folder, CACHE_NAME), f"{_stamp(folder)} {key}\n".encode() + data)
    except OSError:
        return


def delete(folder: str) -> None:
    """Delete what was kept."""
    if os.path.exists(name := os.path.join(folder, CACHE_NAME)):
        os.unlink(name)


def _stamp(folder: str) -> str:
    path = state_path(folder)
    return f"{archive_stamp(archive_path(folder))} {archive_stamp(path) if os.path.exists(path) else '-'}"
