"""Events that are taken in later, because more come at once than can be judged: a queue in one file, and when to use it.

Such an event is on disk before its empty answer, redacted, and is taken in as soon as there is time; a daemon that is killed
meanwhile leaves the rest to the next one. The file begins with the place of the first waiting event, so that none is taken
twice; each event is `AGENT TIME LENGTH\\n` and its payload. The size of the file is limited, and what does not fit is refused
and counted. Knows nothing of what an event means.
"""

import asyncio
import os
import time
from collections import Counter, deque

from preheat.daemon.journal import SpooledEvent
from preheat.files import open_private

MOST_BYTES = 128_000_000
"""The largest size of the file."""
TURN_SECONDS = 0.01
"""Seconds of work in one turn of the loop after which other events of this turn wait."""
_HEAD = 16
_CHUNK = 1 << 16
_LONGEST_LINE = 200

Owner = tuple[str, str]
"""Agent and session."""


class Pace:
    """Whether the loop has more to do in this turn than it should: then every request waits for all the others."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._began = self._busy_until = 0.0

    def is_behind(self) -> bool:
        """Whether this turn of the loop takes too long already; to be asked at each request."""
        now = time.monotonic()
        if not self._began:
            self._began = now
            asyncio.get_running_loop().call_soon(self._end_turn)
        return now - self._began > self._seconds

    def was_behind(self) -> bool:
        """Whether a turn took too long in the last second: slow work, which takes the time of the loop, is not begun then."""
        return time.monotonic() < self._busy_until

    def _end_turn(self) -> None:
        now = time.monotonic()
        if now - self._began > self._seconds:
            self._busy_until = now + 1.0
        self._began = 0.0


class DeferredEvents:
    """The events that wait, oldest first."""

    def __init__(self, path: str, most: int = MOST_BYTES) -> None:
        self._most = most
        self._owners: deque[Owner] = deque()
        self._waiting: Counter[Owner] = Counter()
        self._buffer = b""
        self._length = 0
        self._descriptor = -1
        self._path = path
        self._start = self._end = _HEAD
        self.unfinished = 0
        """Events that an earlier daemon left."""
        if os.path.exists(path):
            self._open()
            self.unfinished = self._count_left()

    def __len__(self) -> int:
        return self.unfinished + len(self._owners)

    def has(self, owner: Owner) -> bool:
        """Whether a session has events that wait; a later one must not overtake them."""
        return owner in self._waiting

    def put(self, owner: Owner, at: float, payload: bytes) -> bool:
        """Let an event wait; False if there is no room for it."""
        record = f"{owner[0]} {at!r} {len(payload)}\n".encode() + payload
        if self._end + len(record) > self._most:
            return False
        try:
            if self._descriptor < 0:
                self._open()
            if os.pwrite(self._descriptor, record, self._end) < len(record):
                return False  # the next one is written over it
        except OSError:
            return False
        self._end += len(record)
        self._owners.append(owner)
        self._waiting[owner] += 1
        return True

    def first(self) -> SpooledEvent | None:
        """The event that waits longest; call `remove_first` when it is taken in. None if none waits or the file is damaged."""
        if not len(self):
            return None
        try:
            line = self._peek(_LONGEST_LINE).partition(b"\n")[0]
            agent, at, length = line.decode("ascii").split(" ")
            self._length = len(line) + 1 + int(length)
            payload = self._peek(self._length)[len(line) + 1 : self._length]
            if len(payload) < int(length):
                raise ValueError("cut off")
            return SpooledEvent(agent, float(at), payload)
        except (OSError, ValueError):
            self._clear()
            return None

    def remove_first(self) -> None:
        """Forget the first event, on disk too."""
        self._start += self._length
        self._buffer = self._buffer[self._length :]
        if self.unfinished:
            self.unfinished -= 1
        else:
            owner = self._owners.popleft()
            self._waiting[owner] -= 1
            if not self._waiting[owner]:
                del self._waiting[owner]
        if not len(self):
            self._clear()
            return
        try:
            os.pwrite(self._descriptor, b"%015d\n" % self._start, 0)
        except OSError:
            return  # a later daemon may take it in again, which the keys of its session show

    def _peek(self, size: int) -> bytes:
        if len(self._buffer) < size:
            at = self._start + len(self._buffer)
            wanted = min(max(size - len(self._buffer), _CHUNK), self._end - at)
            self._buffer += os.pread(self._descriptor, wanted, at)
        return self._buffer

    def _open(self) -> None:
        self._descriptor = open_private(self._path, os.O_RDWR)

    def _clear(self) -> None:
        """Forget all events; what could not be read is lost, and its transcript still has it."""
        self._owners.clear()
        self._waiting.clear()
        self.unfinished = 0
        self._buffer = b""
        self._start = self._end = _HEAD
        try:
            os.ftruncate(self._descriptor, 0)
        except OSError:
            os.close(self._descriptor)
            self._descriptor = -1

    def _count_left(self) -> int:
        """Find what an earlier daemon left in the file, up to the first thing that is no event."""
        found = 0
        try:
            size = os.fstat(self._descriptor).st_size
            head = os.pread(self._descriptor, _HEAD, 0).strip(b"\0\n")  # empty until the first event was taken in
            at = self._start = max(_HEAD, int(head or _HEAD))
            while at < size:
                line = os.pread(self._descriptor, _LONGEST_LINE, at).partition(b"\n")[0]
                at += len(line) + 1 + int(line.decode("ascii").split(" ")[2])
                if at > size:
                    break
                found += 1
                self._end = at
        except (OSError, ValueError, IndexError):
            pass  # what came before is whole
        self._end = max(self._end, self._start)
        return found
