"""Where Hermes keeps its sessions: `state.db` in its home, and one more in each profile's."""

from __future__ import annotations

import os
import sys

from preheat.agents.places import Found, Places, home, stamp_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

DATABASE = "state.db"


def roots(environment: Mapping[str, str]) -> list[str]:
    """`HERMES_HOME`, else the platform's place."""
    override = environment.get("HERMES_HOME")
    if override:
        return [override]
    if sys.platform == "win32":
        local = environment.get("LOCALAPPDATA") or os.path.join(home(environment), "AppData", "Local")
        return [os.path.join(local, "hermes")]
    return [os.path.join(home(environment), ".hermes")]


def discover(root: str) -> Iterator[Found]:
    """The database of the home itself, and of every profile."""
    yield from _found(os.path.join(root, DATABASE))
    try:
        names = sorted(os.listdir(os.path.join(root, "profiles")))
    except OSError:
        return
    for name in names:
        yield from _found(os.path.join(root, "profiles", name, DATABASE))


def _found(path: str) -> Iterator[Found]:
    try:
        status = os.stat(path)
    except OSError:
        return
    size, stamp = status.st_size, stamp_of(status)
    # What was written last is in the log beside the database: the program often ends without moving it over.
    try:
        log = os.stat(f"{path}-wal")
    except OSError:
        log = None
    # An empty one says nothing: SQLite makes one for every reader, also for us.
    if log is not None and log.st_size:
        size += log.st_size
        stamp = f"{stamp}+{stamp_of(log)}"
    yield Found(path, size, stamp)


PLACES = Places("hermes", "Hermes Agent", 1, roots, discover)
