"""Puts a new database file in the place of a damaged one, which is kept under another name.

At every moment there is a file in the place: a process that is killed in between leaves the rest for the next call of `finish`.
Knows nothing of what is in the files.
"""

import os
import time
from contextlib import suppress

from preheat.files import flush_folder, open_file


def building_path(path: str) -> str:
    """Where the new file is built."""
    return f"{path}.repairing"


def _ready_path(path: str) -> str:
    return f"{path}.repaired"


def clear(path: str) -> None:
    """Delete an unfinished new file."""
    for name in _with_log(building_path(path)):
        with suppress(FileNotFoundError):
            os.unlink(name)


def replace(path: str) -> str:
    """Put the new file, which is complete and closed, in the place of the damaged one; where that is now."""
    with open_file(building_path(path)) as file:
        os.fsync(file.fileno())
    os.replace(building_path(path), _ready_path(path))
    return finish(path)


def finish(path: str) -> str:
    """Finish a replacement that has begun; where the damaged file is now, empty if there is none to finish."""
    if not os.path.exists(_ready_path(path)):
        return ""
    kept = _keep(path) if os.path.exists(path) else ""
    log, index = f"{path}-wal", f"{path}-shm"
    if os.path.exists(log):  # it is of the damaged file, and would damage the new one, too
        os.replace(log, f"{kept or _base(path)}-wal")
    with suppress(FileNotFoundError):
        os.unlink(index)
    os.replace(_ready_path(path), path)
    flush_folder(os.path.dirname(path))
    return kept


def _keep(path: str) -> str:
    """Give the damaged file its second name. One that has it already was left by a process that was killed."""
    number = 1
    while True:
        name = _base(path) if number == 1 else f"{_base(path)}-{number}"
        if os.path.exists(name):
            if os.path.samefile(name, path):
                return name
            number += 1
            continue
        try:
            os.link(path, name)
        except OSError:  # a file system without links
            os.rename(path, name)
        return name


def _base(path: str) -> str:
    return f"{path}.damaged-{time.strftime('%Y-%m-%d')}"


def _with_log(path: str) -> tuple[str, str, str]:
    return path, f"{path}-wal", f"{path}-shm"
