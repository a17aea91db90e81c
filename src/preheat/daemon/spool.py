"""The spool: events that came while no daemon answered, or that took too long, as files that are taken later in order.

The first line of a file is `AGENT TIME`, the rest is the payload. Knows nothing of what a payload means.
"""

import os
import time
from contextlib import suppress
from typing import NamedTuple

from preheat.files import write_atomically

MOST_FILES = 500
LARGEST = 8_000_000


class SpooledEvent(NamedTuple):
    """One event of the spool."""

    agent: str
    at: float
    payload: bytes


class Spool:
    """The folder of spooled events."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self.lost = 0
        """Events that were given up: unreadable, or a daemon died while handling them."""
        for name in self._names(".trying"):
            self._remove(name)
            self.lost += 1
        for name in self._names(".new"):
            if _age(os.path.join(folder, name)) > 60:
                self._remove(name)

    def put(self, agent: str, at: float, payload: bytes) -> bool:
        """Store an event for later; False if that was not possible."""
        if len(payload) > LARGEST or len(self._names(".event")) >= MOST_FILES:
            return False
        path = os.path.join(self._folder, f"{time.time_ns():020}-{os.getpid()}.event")
        try:
            write_atomically(path, f"{agent} {at!r}\n".encode() + payload)
        except OSError:
            return False
        return True

    def waiting(self) -> list[str]:
        """The names of the spooled events, oldest first."""
        return self._names(".event")

    def take(self, name: str) -> SpooledEvent | None:
        """An event by its name. Unless `done` follows it is given up, so that it cannot kill every new daemon."""
        path = os.path.join(self._folder, name)
        try:
            os.rename(path, f"{path}.trying")
            with open(f"{path}.trying", "rb") as stream:
                head, _, payload = stream.read(LARGEST + 1000).partition(b"\n")
            agent, at = head.decode("ascii").split(" ")
            return SpooledEvent(agent, float(at), payload)
        except (OSError, ValueError):
            self.lost += 1
            self.remove(name)
            return None

    def remove(self, name: str) -> None:
        """Remove an event that was taken."""
        self._remove(f"{name}.trying")

    def _names(self, end: str) -> list[str]:
        try:
            return sorted(name for name in os.listdir(self._folder) if name.endswith(end))
        except OSError:
            return []

    def _remove(self, name: str) -> None:
        with suppress(OSError):  # another process removed it
            os.unlink(os.path.join(self._folder, name))


def _age(path: str) -> float:
    try:
        return abs(time.time() - os.stat(path).st_mtime)
    except OSError:
        return 0.0
