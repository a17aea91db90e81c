"""Reads the pages and records of an SQLite file without SQLite, as far as they can be read: for files that are damaged.

Trusts nothing that it reads: whatever does not fit is passed over. Knows none of the tables. The format is described in SQLite's
own documentation ("Database File Format").
"""

import os
import struct
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from preheat.files import open_file

Value: TypeAlias = int | float | str | bytes | None

MAGIC = b"SQLite format 3\0"
_TABLE_LEAF, _INDEX_LEAF, _TABLE_INTERIOR, _INDEX_INTERIOR = 13, 10, 5, 2
_KINDS = (_TABLE_LEAF, _INDEX_LEAF, _TABLE_INTERIOR, _INDEX_INTERIOR)
_LOG_MAGIC = (0x377F0682, 0x377F0683)
_LOG_HEADER, _FRAME_HEADER = 32, 24
_LONGEST_RECORD = 2**31


class Record(NamedTuple):
    """A row as it is stored; `rowid` is None in tables that have none."""

    page: int
    rowid: int | None
    values: tuple[Value, ...]


class Payload(NamedTuple):
    """Where a stored value is: it begins in one page and goes on in a chain of others."""

    page: int
    start: int
    """The first byte of the record in that page."""
    length: int
    local: int
    """Bytes of it in the first page."""
    following: int
    """The number of the next page; 0 if there is none."""


class PageFile:
    """The pages of a file, numbered from one, as the log beside it has them where it does. Close it after use."""

    def __init__(self, path: str, page_size: int) -> None:
        self._stream = open_file(path)
        self._log = None
        self._frames: dict[int, int] = {}
        size = self._stream.size
        self.page_size = self._find_page_size(page_size, size)
        self._pages_in_file = -(-size // self.page_size)
        if os.path.exists(log := f"{path}-wal"):
            self._log = open_file(log)
            self._index_log()
        self.count = max(self._pages_in_file, *self._frames, 0)

    def close(self) -> None:
        self._stream.close()
        if self._log is not None:
            self._log.close()

    def page(self, number: int) -> bytes:
        """A page; bytes that the file no longer has are zeros."""
        frame = self._frames.get(number)
        if frame is not None and self._log is not None:
            self._log.seek(frame)
            data = self._log.read(self.page_size)
        else:
            self._stream.seek((number - 1) * self.page_size)
            data = self._stream.read(self.page_size)
        return data.ljust(self.page_size, b"\0")

    def _find_page_size(self, usual: int, size: int) -> int:
        """The page size of the header, unless the pages themselves speak for the usual one."""
        self._stream.seek(0)
        header = self._stream.read(18)
        named = int.from_bytes(header[16:18], "big")
        named = 65536 if named == 1 else named
        sizes = {usual, named} if named >= 512 and named & (named - 1) == 0 else {usual}
        return max(sorted(sizes, key=lambda each: each != usual), key=lambda each: self._count_likely_pages(each, size))

    def _count_likely_pages(self, page_size: int, size: int) -> int:
        found = 0
        for start in range(page_size, min(size, 4_000_000), page_size):
            self._stream.seek(start)
            found += _looks_like_a_page(self._stream.read(8), page_size)
        return found

    def _index_log(self) -> None:
        """Find the newest frame of each page, up to the last transaction that was ended. The check sums of the log are not
        compared: every record is looked at by itself anyway."""
        assert self._log is not None  # noqa: S101 - the caller opened it
        header = self._log.read(_LOG_HEADER)
        if len(header) < _LOG_HEADER or int.from_bytes(header[:4], "big") not in _LOG_MAGIC:
            return
        salts = header[16:24]
        waiting: dict[int, int] = {}
        at = _LOG_HEADER
        while len(frame := self._read_log(at, _FRAME_HEADER)) == _FRAME_HEADER and frame[8:16] == salts:
            number, ends = struct.unpack(">II", frame[:8])
            waiting[number] = at + _FRAME_HEADER
            if ends:
                self._frames.update(waiting)
                waiting = {}
            at += _FRAME_HEADER + self.page_size

    def _read_log(self, at: int, length: int) -> bytes:
        assert self._log is not None  # noqa: S101
        self._log.seek(at)
        return self._log.read(length)

    # Pages.
    def free_pages(self) -> set[int]:
        """Pages that hold nothing any more; empty if the list of them cannot be read."""
        free: set[int] = set()
        trunk = int.from_bytes(self.page(1)[32:36], "big") if self.count else 0
        while 1 < trunk <= self.count and trunk not in free:
            free.add(trunk)
            page = self.page(trunk)
            trunk, number = struct.unpack(">II", page[:8])
            if number > (self.page_size - 8) // 4:
                return set()
            free.update(each for each in struct.unpack(f">{number}I", page[8 : 8 + 4 * number]))
        return free

    def walk(self, root: int) -> Iterator[int]:
        """The numbers of the pages of a table or index, from its root on. Raises ValueError at the end if one is damaged."""
        waiting, seen, damaged = [root], {0}, False
        while waiting:
            number = waiting.pop()
            page = self.page(number) if 0 < number <= self.count else b""
            at = 100 if number == 1 else 0
            if number in seen or not page or not _looks_like_a_page(page[at : at + 8], self.page_size):
                damaged = True
                continue
            seen.add(number)
            yield number
            if page[at] in (_TABLE_INTERIOR, _INDEX_INTERIOR):
                waiting += [int.from_bytes(page[cell : cell + 4], "big") for cell in _cells(page, at)]
                waiting.append(int.from_bytes(page[at + 8 : at + 12], "big"))
        if damaged:
            raise ValueError(f"page {root}")

    # Records.
    def records(self, number: int) -> Iterator[Record]:
        """The records in a page; those that cannot be read are passed over."""
        page = self.page(number)
        at = 100 if number == 1 else 0
        if page[at] not in _KINDS or page[at] == _TABLE_INTERIOR:
            return
        for cell in _cells(page, at):
            try:
                yield self._record(number, page, cell, page[at])
            except (ValueError, IndexError, struct.error, UnicodeDecodeError):
                continue

    def count_records(self, number: int) -> int:
        """How many records a page says that it has."""
        page = self.page(number)
        at = 100 if number == 1 else 0
        return int.from_bytes(page[at + 3 : at + 5], "big") if page[at] in _KINDS and page[at] != _TABLE_INTERIOR else 0

    def _record(self, number: int, page: bytes, cell: int, kind: int) -> Record:
        if kind == _INDEX_INTERIOR:
            cell += 4
        length, at = read_varint(page, cell)
        rowid = None
        if kind == _TABLE_LEAF:
            rowid, at = read_varint(page, at)
        payload = self.payload(number, page, at, length, kind == _TABLE_LEAF)
        return Record(number, _restore_sign(rowid), decode_record(self.read(payload)))

    def payload(self, number: int, page: bytes, start: int, length: int, in_table: bool) -> Payload:
        """The place of a record of this length that begins at `start` of a page. Raises ValueError."""
        if not 0 < length < _LONGEST_RECORD:
            raise ValueError("length of a record")
        usable = self.page_size
        least = (usable - 12) * 32 // 255 - 23
        most = usable - 35 if in_table else (usable - 12) * 64 // 255 - 23
        if length <= most:
            return Payload(number, start, length, length, 0)
        local = least + (length - least) % (usable - 4)
        local = local if local <= most else least
        if start + local + 4 > usable:
            raise ValueError("a record outside of its page")
        return Payload(number, start, length, local, int.from_bytes(page[start + local : start + local + 4], "big"))

    def read(self, place: Payload, in_order: bool = False) -> bytes:
        """The bytes of a record; shorter than its length where its chain ends early. `in_order`: the pages after the first are
        taken one after the other, as they mostly are, whatever the links between them say."""
        pieces = [self.page(place.page)[place.start : place.start + place.local]]
        left, following, seen = place.length - place.local, place.following, set[int]()
        while left > 0 and 1 < following <= self.count and following not in seen:
            seen.add(following)
            page = self.page(following)
            pieces.append(page[4 : 4 + left])
            left -= self.page_size - 4
            following = following + 1 if in_order else int.from_bytes(page[:4], "big")
        return b"".join(pieces)


def _looks_like_a_page(head: bytes, page_size: int) -> bool:
    if len(head) < 8 or head[0] not in _KINDS:
        return False
    cells, start = struct.unpack(">HH", head[3:7])
    return bool(cells * 2 + 8 <= page_size and (start or 65536) <= page_size)


def _cells(page: bytes, at: int) -> list[int]:
    """Where the cells of a page begin."""
    first = at + (12 if page[at] in (_TABLE_INTERIOR, _INDEX_INTERIOR) else 8)
    number = min(int.from_bytes(page[at + 3 : at + 5], "big"), (len(page) - first) // 2)
    places = struct.unpack(f">{number}H", page[first : first + 2 * number])
    return [place for place in places if first + 2 * number <= place < len(page) - 3]


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """A number of variable length, and where it ends. Raises IndexError."""
    value = 0
    for index in range(8):
        byte = data[at + index]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + index + 1
    return value << 8 | data[at + 8], at + 9


def _restore_sign(value: int | None) -> int | None:
    return value - 2**64 if value is not None and value >= 2**63 else value


_INTEGER_SIZES = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}


def decode_record(data: bytes) -> tuple[Value, ...]:
    """The values of a record. Raises ValueError or IndexError."""
    end, at = read_varint(data, 0)
    if not 0 < end <= len(data):
        raise ValueError("header of a record")
    kinds: list[int] = []
    while at < end:
        kind, at = read_varint(data, at)
        kinds.append(kind)
    values: list[Value] = []
    for kind in kinds:
        value, at = _decode_value(data, at, kind)
        values.append(value)
    return tuple(values)


def _decode_value(data: bytes, at: int, kind: int) -> tuple[Value, int]:
    if kind == 0:
        return None, at
    if kind in (8, 9):
        return kind - 8, at
    if kind in (10, 11):
        raise ValueError("kind of a value")
    size = _INTEGER_SIZES.get(kind) or (8 if kind == 7 else (kind - 12) // 2)
    raw = data[at : at + size]
    if len(raw) < size:
        raise ValueError("a record that is cut off")
    if kind == 7:
        return struct.unpack(">d", raw)[0], at + size
    if kind < 7:
        return int.from_bytes(raw, "big", signed=True), at + size
    return raw if kind % 2 == 0 else raw.decode("utf-8"), at + size
