"""The journal: everything that happened in the running sessions, on disk before a hook is answered. Append-only, bounded.

Knows nothing of what an entry means. Written without waiting for the disk: it survives the death of the process, not that of
the machine, after which the transcripts still have it all. A line that was cut off, by whatever, is passed over.
"""

import os
from collections.abc import Iterator

import msgspec

from preheat.errors import PreheatError
from preheat.files import write_whole
from preheat.model.journal import Entry

SEGMENT = 4_000_000
"""Bytes of one file; so much has to be folded again after a crash at most."""
KEPT = 6
"""Files that stay."""


class NotWritten(PreheatError):  # noqa: N818 - reads as a sentence where it is raised
    """An entry could not be put on disk, and so what it tells did not happen."""


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Entry).decode


class Journal:
    """The files of a folder, the newest of which is written."""

    def __init__(self, folder: str, segment: int = SEGMENT, kept: int = KEPT) -> None:
        self._folder = folder
        self._segment = segment
        self._kept = kept
        self._descriptor = -1
        self._size = 0
        self._name = 0
        self._flushed = _flushed(folder)
        self.seq = max(self._flushed, _last(folder))

    # Writing.
    def append(self, entry: Entry) -> Entry:
        """Put an entry on disk; as it stands there. Raises NotWritten, and then nothing of it is there."""
        entry = msgspec.structs.replace(entry, seq=self.seq + 1)
        line = _encode(entry) + b"\n"
        try:
            if self._descriptor < 0 or self._size + len(line) > self._segment:
                self._turn_over()
            done = os.write(self._descriptor, line)
            if done < len(line):
                os.ftruncate(self._descriptor, self._size)
                raise NotWritten("the disk is full")
        except OSError as error:
            raise NotWritten(error.strerror or "not written") from error
        self._size += len(line)
        self.seq = entry.seq
        return entry

    def _turn_over(self) -> None:
        """Begin a file if the newest is full or nothing was written yet."""
        names = _segments(self._folder)
        self._name = max(self._name, names[-1] if names else 0)
        path = _path(self._folder, max(1, self._name))
        if self._descriptor >= 0 or (os.path.exists(path) and os.path.getsize(path) > self._segment // 2):
            self._name += 1
        self._name = max(1, self._name)
        opened = os.open(_path(self._folder, self._name), os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
        if self._descriptor >= 0:
            os.close(self._descriptor)  # nobody waits for the disk here: a hook does for us
        self._descriptor = opened
        self._size = os.fstat(opened).st_size
        if self._size:
            # A crash may have left half a line.
            self._size += os.write(opened, b"\n")
        for old in names[: max(0, len(names) + 1 - self._kept)]:
            if old != self._name:
                os.unlink(_path(self._folder, old))

    def close(self) -> None:
        """Have all of it safely on disk."""
        if self._descriptor >= 0:
            os.fsync(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = -1

    # What has been taken up elsewhere.
    @property
    def flushed(self) -> int:
        """Every entry up to this one is in the sessions' own files."""
        return self._flushed

    def mark_flushed(self, seq: int) -> None:
        """Note that every entry up to this one is in the sessions' own files. Raises OSError."""
        if seq != self._flushed:
            write_whole(os.path.join(self._folder, "flushed"), str(seq).encode())
            self._flushed = seq

    # Reading.
    def replay(self, after: int) -> Iterator[Entry]:
        """The entries after one, in their order."""
        for name in _segments(self._folder):
            for entry in _entries(self._folder, name):
                if entry.seq > after:
                    yield entry


def _entries(folder: str, name: int) -> Iterator[Entry]:
    try:
        with open(_path(folder, name), "rb") as stream:
            for line in stream:
                entry = _read(line)
                if entry is not None:
                    yield entry
    except OSError:
        return  # gone or not readable: the rest still counts


def _last(folder: str) -> int:
    for name in reversed(_segments(folder)):
        if seqs := [entry.seq for entry in _entries(folder, name)]:
            return max(seqs)
    return 0


def _read(line: bytes) -> Entry | None:
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


def _flushed(folder: str) -> int:
    try:
        with open(os.path.join(folder, "flushed"), encoding="ascii") as stream:
            return int(stream.read())
    except (OSError, ValueError):
        return 0
