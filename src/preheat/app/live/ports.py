"""Who listens on a port of this machine, by what the system tells in files. Nothing is known where it has none (macOS)."""

import os
from collections.abc import Callable
from contextlib import suppress

from preheat.answers.values import Listener

_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
_LISTENS = b"0A"
_PROCESSES = "/proc"
_LARGEST = 2_000_000


def find_listener(port: int, may_go_on: Callable[[], bool]) -> Listener | None:
    """The process that listens on a port; one without a number if none does; None where that cannot be told in time, or the
    process is not the person's own."""
    sockets = _listening_sockets(port)
    if sockets is None:
        return None
    if not sockets:
        return Listener()
    own = os.getuid()
    for name in os.listdir(_PROCESSES):
        if not may_go_on():
            return None
        if name.isdigit() and _holds(f"{_PROCESSES}/{name}", sockets, own):
            return _describe(int(name))
    return None


def _listening_sockets(port: int) -> set[str] | None:
    """The sockets, by number, that listen on a port; None if the system has no such table."""
    ending, found, is_known = f":{port:04X}".encode(), set[str](), False
    for table in _TABLES:
        with suppress(OSError):
            with open(table, "rb") as stream:
                data = stream.read(_LARGEST)
            is_known = True
            rows = (line.split() for line in data.splitlines()[1:])
            found |= {
                row[9].decode() for row in rows if len(row) > 9 and row[1].endswith(ending) and row[3] == _LISTENS
            }
    return found if is_known else None


def _holds(place: str, sockets: set[str], own: int) -> bool:
    try:
        if os.stat(place).st_uid != own:
            return False
        for name in os.listdir(f"{place}/fd"):
            target = os.readlink(f"{place}/fd/{name}")
            if target.startswith("socket:[") and target[8:-1] in sockets:
                return True
    except OSError:  # it ended meanwhile, or is not ours to look into
        return False
    return False


def _describe(process: int) -> Listener | None:
    try:
        with open(f"{_PROCESSES}/{process}/comm", encoding="utf-8", errors="replace") as stream:
            program = stream.read(100).strip()
        return Listener(process, program, os.readlink(f"{_PROCESSES}/{process}/cwd"))
    except OSError:
        return None
