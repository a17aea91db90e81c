"""Whether the archive is as Preheat left it: size, time and number of its file are written down beside it after every change.

A file that something else has changed is checked by the next sync, and an odd error is then explained by that. Light: standard
library only. Knows nothing of the tables.
"""

from __future__ import annotations

import os

from preheat.files import read_text, write_atomically

_LONGEST = 1_000

STAMP_NAME = "archive.stamp"
_OURS, _CHECKED = "ours", "checked"


def archive_stamp(archive: str) -> str:
    """Changes with every change of the archive. Raises OSError."""
    status = os.stat(archive)
    try:
        log = os.stat(f"{archive}-wal").st_size
    except OSError:
        log = 0
    return f"{status.st_size}:{status.st_mtime_ns}:{status.st_ino}:{log}"


def _load(archive: str) -> list[str]:
    try:
        return read_text(_place(archive), _LONGEST).split(" ")
    except (OSError, UnicodeError):
        return []


def is_as_left(archive: str) -> bool:
    """Whether the archive is as the last change of Preheat or the last check left it."""
    try:
        return _load(archive)[:1] == [archive_stamp(archive)]
    except OSError:
        return False


def is_ours(archive: str) -> bool:
    """Whether nothing but Preheat is known to have changed the archive."""
    found = _load(archive)
    return not found or (is_as_left(archive) and found[1:] == [_OURS])


def write_stamp(archive: str, ours: bool) -> None:
    """Write down how the archive is now. Errors are ignored: the next sync checks the archive then."""
    try:
        write_atomically(_place(archive), f"{archive_stamp(archive)} {_OURS if ours else _CHECKED}".encode())
    except OSError:
        return


def _place(archive: str) -> str:
    return os.path.join(os.path.dirname(archive), STAMP_NAME)
