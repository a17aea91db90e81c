"""Events on disk: the journal of running sessions, and the spool of events that wait for a daemon.

The journal is append-only and bounded; an entry is in it before its hook is answered. It is written without waiting for the disk:
it survives the death of the process, not of the machine, after which the transcripts still have everything. A damaged line is
skipped. A spooled event is a file: the first line is `AGENT TIME`, the rest the payload. Knows nothing of what an entry means.
"""

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

import msgspec

from preheat.errors import PreheatError
from preheat.files import open_file, open_private, read_file, read_text, write_atomically
from preheat.model.live import JournalEntry

SEGMENT = 4_000_000
"""Bytes of one file: at most so much is folded again after a crash."""
KEPT = 6
"""Files that are kept."""


class JournalError(PreheatError):
    """An entry could not be written, so its event is treated as not taken."""


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(JournalEntry).decode


class Journal:
    """The journal files of a folder; the newest is written."""

    def __init__(self, folder: str, segment: int = SEGMENT, kept: int = KEPT) -> None:
        self._folder = folder
        self._segment = segment
        self._kept = kept
        self._descriptor = -1
        self._size = 0
        self._name = 0
        self._flushed = _read_flushed(folder)
        self.seq = max(self._flushed, _last_seq(folder))

    # Writing.
    def append(self, entry: JournalEntry) -> JournalEntry:
        """Write an entry and give it back with its number. Raises JournalError, and then nothing of it is on disk."""
        entry = msgspec.structs.replace(entry, seq=self.seq + 1)
        line = _encode(entry) + b"\n"
        try:
            if self._descriptor < 0 or self._size + len(line) > self._segment:
                self._open_segment()
            written = os.write(self._descriptor, line)
            if written < len(line):
                os.ftruncate(self._descriptor, self._size)
                raise JournalError("the disk is full")
        except OSError as error:
            raise JournalError(error.strerror or "not written") from error
        self._size += len(line)
        self.seq = entry.seq
        return entry

    def _open_segment(self) -> None:
        """Open the newest file, or a new one if that is full, and remove old files."""
        names = _segments(self._folder)
        self._name = max(self._name, names[-1] if names else 0)
        path = _path(self._folder, max(1, self._name))
        if self._descriptor >= 0 or (os.path.exists(path) and os.path.getsize(path) > self._segment // 2):
            self._name += 1
        self._name = max(1, self._name)
        opened = open_private(_path(self._folder, self._name), os.O_WRONLY | os.O_APPEND)
        if self._descriptor >= 0:
            os.close(self._descriptor)  # without a sync: a hook waits for this
        self._descriptor = opened
        self._size = os.fstat(opened).st_size
        if self._size:
            # A crash may have left half a line.
            self._size += os.write(opened, b"\n")
        for old in names[: max(0, len(names) + 1 - self._kept)]:
            if old != self._name:
                os.unlink(_path(self._folder, old))

    def close(self) -> None:
        """Sync the journal to disk and close it."""
        if self._descriptor >= 0:
            os.fsync(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = -1

    # What the files of sessions already have.
    @property
    def flushed(self) -> int:
        """The number of the last entry that the files of sessions have."""
        return self._flushed

    def mark_flushed(self, seq: int) -> None:
        """Note that the files of sessions have every entry up to this one. Raises OSError."""
        if seq != self._flushed:
            write_atomically(os.path.join(self._folder, "flushed"), str(seq).encode())
            self._flushed = seq

    # Reading.
    def replay(self, after: int) -> Iterator[JournalEntry]:
        """The entries after a number, in order."""
        for name in _segments(self._folder):
            for entry in _entries(self._folder, name):
                if entry.seq > after:
                    yield entry


def _entries(folder: str, name: int) -> Iterator[JournalEntry]:
    try:
        data = read_file(_path(folder, name))
    except OSError:
        return  # removed or not readable: skip this file
    for line in data.split(b"\n"):
        entry = _read(line)
        if entry is not None:
            yield entry


def _last_seq(folder: str) -> int:
    for name in reversed(_segments(folder)):
        if seqs := [entry.seq for entry in _entries(folder, name)]:
            return max(seqs)
    return 0


def _read(line: bytes) -> JournalEntry | None:
    try:
        # Version 0.1.0 called the cause `mistake` `misuse`.
        return _decode(line.replace(b'"cause":"misuse"', b'"cause":"mistake"'))
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _segments(folder: str) -> list[int]:
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    return sorted(int(name[:8]) for name in names if name[8:] == ".jsonl" and name[:8].isdigit())


def _path(folder: str, name: int) -> str:
    return os.path.join(folder, f"{name:08}.jsonl")


def _read_flushed(folder: str) -> int:
    try:
        return int(read_text(os.path.join(folder, "flushed")))
    except (OSError, ValueError):
        return 0


# The spool
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
        """Events that were given up: unreadable, a daemon died while handling them, or a client found no room for them."""
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
        """An event by its name. Unless `remove` follows it is given up, so that it cannot kill every new daemon."""
        path = os.path.join(self._folder, name)
        try:
            os.rename(path, f"{path}.trying")
            with open_file(f"{path}.trying") as stream:
                head, _, payload = stream.read(LARGEST + 1000).partition(b"\n")
            agent, at = head.decode("ascii").split(" ")
            return SpooledEvent(agent, float(at), payload)
        except (OSError, ValueError):
            self.lost += 1
            self.remove(name)
            return None

    def collect_lost(self) -> None:
        """Count the events that clients could not keep: each left a byte in a file."""
        path = os.path.join(self._folder, "lost")
        with suppress(OSError):  # there is none, which is the rule
            found = os.stat(path).st_size
            os.unlink(path)
            self.lost += found

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
