"""Faults of the state beside the archive, each with what to do about it, for `preheat doctor`. Changes nothing."""

import os
import stat
import sys

from preheat.errors import UserError
from preheat.settings import state_path
from preheat.state.connect import reading
from preheat.state.migration import unreadable_lines


def state_faults(folder: str) -> list[str]:
    """All faults, a sentence each; none if there is no state."""
    try:
        with reading(folder) as state:
            verdicts = [str(row[0]) for row in state.execute("PRAGMA quick_check(5)")]
    except UserError as error:
        return [str(error)]
    damage = [
        f"`{state_path(folder)}` is damaged: {each}; put a copy in its place" for each in verdicts if each != "ok"
    ]
    return [*damage, *_permission_faults(folder), *unreadable_lines(folder)]


def _permission_faults(folder: str) -> list[str]:
    if sys.platform == "win32":
        return []
    path = state_path(folder)
    return [
        f"others can read `{name}` (mode {mode:o}); `chmod 600 {name}` closes it"
        for name in (path, f"{path}-wal", f"{path}-shm")
        if os.path.exists(name) and (mode := stat.S_IMODE(os.stat(name).st_mode)) & 0o077
    ]
