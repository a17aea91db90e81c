"""Finds the stored sources in a damaged archive: packs by their own marks, rows by their shape, each piece judged by its hash.

Nothing is taken from the tables' structure, which may be damaged: every page is looked at. Changes nothing. Knows nothing of what
the bytes mean.
"""

from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Any, NamedTuple, TypeGuard

import zstandard

from preheat.archive.packing import FRAME_START, SegmentLabel, read_label, split_frames
from preheat.sqlite_files.pages import PageFile, Payload, Record, Value, read_varint

PAGE_SIZE = 8192
"""The page size of every archive."""
_STEP = 1024
"""Bytes that a damaged frame is decompressed by, to get all that comes before the damage."""
_LARGEST_FRAME = 2**30
"""Bytes; a frame that names more is damaged."""
_DIGEST = 32


class SourceRow(NamedTuple):
    """A row of the table of sources."""

    agent: str
    path: str
    part: str
    stamp: str
    reader_version: int
    generation: int


class SavedSegment(NamedTuple):
    """A piece of a source, and where its bytes are; `pack` is None where they are lost."""

    label: SegmentLabel
    pack: "FoundPack | None"


class FoundPack(NamedTuple):
    """A pack in the file, as it was found."""

    place: Payload
    in_order: bool
    """Its pages are read one after the other: the links between them are damaged."""
    rowid: int | None


class SavedSource(NamedTuple):
    """One generation of a source with all pieces that are known of it, in order."""

    agent: str
    path: str
    part: str
    generation: int
    reader_version: int
    stamp: str
    """Empty where it is not sure that the stored source is complete: then it is read again if its file is still there."""
    segments: list[SavedSegment]

    @property
    def is_whole(self) -> bool:
        """Whether no piece is known to be lost."""
        numbers = [each.label.seq for each in self.segments]
        return numbers == list(range(len(numbers))) and all(each.pack for each in self.segments)


class LostSession(NamedTuple):
    """A session that the rows tell of."""

    key: str
    agent: str
    path: str


class Salvage:
    """What can be read of a damaged archive. Close it after use."""

    def __init__(self, path: str, on_page: Callable[[int], None] = lambda number: None) -> None:
        self._file = PageFile(path, PAGE_SIZE)
        self._last: tuple[FoundPack | None, bytes] = (None, b"")
        self.sources: dict[int, SourceRow] = {}
        self.sessions: dict[str, tuple[str, int]] = {}
        """By key: agent, and number of the source."""
        self.forgotten: dict[bytes, float] = {}
        self.redactions: dict[int, dict[str, int]] = {}
        self._segments: dict[int, list[tuple[Any, ...]]] = {}
        self._packs: list[FoundPack] = []
        self.unknown_packs = 0
        """Packs whose bytes are there, but no word of whose they are."""
        self.damaged_packs = 0
        self._scan(on_page)

    def close(self) -> None:
        self._file.close()

    # Rows and packs, page by page.
    def _scan(self, on_page: Callable[[int], None]) -> None:
        free = self._file.free_pages()
        for number in range(1, self._file.count + 1):
            on_page(1)
            if number in free:  # what was deleted stays deleted
                continue
            page = self._file.page(number)
            if FRAME_START in page:
                self._packs += self._find_packs(number, page)
            for record in self._file.records(number):
                self._add_row(record)

    def _add_row(self, record: Record) -> None:
        """Keep a record that has the shape of a row of one of the tables that are needed."""
        values = record.values
        if len(values) == 7 and record.rowid is None and _is_segment(values):
            self._segments.setdefault(values[3], []).append(values)
        elif record.rowid is not None and _is_source(values):
            self.sources[record.rowid] = SourceRow(*values[1:7])
        elif record.rowid is not None and _is_session(values):
            self.sessions[values[1]] = (values[2], values[4])
        elif record.rowid is not None and len(values) == 2 and isinstance(values[1], int | float):
            if isinstance(values[0], bytes) and len(values[0]) == _DIGEST:
                self.forgotten[values[0]] = float(values[1])
        elif record.rowid is None and len(values) == 3 and _is_redaction(values):
            self.redactions.setdefault(values[0], {})[values[1]] = values[2]

    def _find_packs(self, number: int, page: bytes) -> Iterator[FoundPack]:
        """Rows of a number and a blob that begins as zstd does, wherever they are in the page."""
        at = page.find(FRAME_START)
        while at >= 0:
            for size in range(1, 6):  # of the number that gives the length of the blob
                start = at - 2 - size
                if start < 0 or page[start] != 2 + size or page[start + 1] != 0:
                    continue
                kind, end = read_varint(page, start + 2)
                if end == at and kind >= 12 and kind % 2 == 0:
                    length = 2 + size + (kind - 12) // 2
                    try:
                        place = self._file.payload(number, page, start, length, in_table=True)
                    except ValueError:
                        break
                    yield FoundPack(place, False, _rowid_before(page, start, length))
                    break
            at = page.find(FRAME_START, at + 1)

    # Sources.
    def find_sources(self, on_pack: Callable[[int], None] = lambda number: None) -> list[SavedSource]:
        """Every source that the packs and rows tell of, the generations of each in order."""
        found: dict[tuple[str, str, int], dict[int, SavedSegment]] = {}
        for pack in self._packs:
            on_pack(1)
            for segment in self._check_pack(pack):
                _keep(found, segment)
        saved = {each.label.sha256 for segments in found.values() for each in segments.values() if each.pack}
        for label in self._labels_of_rows(None):  # whose packs are gone; not those that only a row names otherwise
            if label.sha256 not in saved:
                _keep(found, SavedSegment(label, None))
        rows = {(row.path, row.part): row for row in self.sources.values()}
        return [
            _make_source(list(segments.values()), rows.get((path, part)))
            for (path, part, _), segments in sorted(found.items(), key=lambda item: item[0])
        ]

    def _check_pack(self, pack: FoundPack) -> list[SavedSegment]:
        """The segments of a pack, by its label and by the rows."""
        data = self._file.read(pack.place)[_header_size(pack.place.length) :]
        unpacked, is_whole = _decompress_as_far_as_possible(data)
        if not is_whole and pack.place.following:
            straight = pack._replace(in_order=True)
            other, whole_now = _decompress_as_far_as_possible(self._read_pack(straight))
            if whole_now:
                pack, data, unpacked, is_whole = straight, self._read_pack(straight), other, True
        label = read_label(data)
        known = {(each.path, each.part, each.generation, each.seq): each for each in self._labels_of_rows(pack.rowid)}
        known |= {(each.path, each.part, each.generation, each.seq): each for each in label}
        checked = [SavedSegment(each, pack if _has_hash(unpacked, each) else None) for each in known.values()]
        if label or any(each.pack for each in checked):
            self.damaged_packs += not is_whole
            return checked
        return []

    def _labels_of_rows(self, pack: int | None) -> Iterator[SegmentLabel]:
        """What the rows say of the segments of a pack (None: of all)."""
        groups = self._segments.values() if pack is None else [self._segments.get(pack, [])]
        for source, generation, seq, _, start, length, digest in (row for rows in groups for row in rows):
            row = self.sources.get(source)
            if row is not None:
                yield SegmentLabel(
                    row.agent, row.path, row.part, generation, seq, row.reader_version, "", start, length, digest
                )

    # Bytes.
    def read_source(self, source: SavedSource) -> Iterator[bytes]:
        """The pieces of a source that still have their hash, in order."""
        for segment in source.segments:
            if segment.pack is not None:
                label = segment.label
                yield self._unpack(segment.pack)[label.start : label.start + label.length]

    def _unpack(self, pack: FoundPack) -> bytes:
        if self._last[0] != pack:
            self._last = (pack, _decompress_as_far_as_possible(self._read_pack(pack))[0])
        return self._last[1]

    def _read_pack(self, pack: FoundPack) -> bytes:
        return self._file.read(pack.place, pack.in_order)[_header_size(pack.place.length) :]

    def lost_sessions(self, saved: set[str]) -> list[LostSession]:
        """The sessions that the rows tell of and that are not among these."""
        lost = []
        for key, (agent, number) in sorted(self.sessions.items()):
            if key not in saved:
                row = self.sources.get(number)
                lost.append(LostSession(key, agent, row.path if row else ""))
        return lost


# Sources.
def _keep(found: dict[tuple[str, str, int], dict[int, SavedSegment]], segment: SavedSegment) -> None:
    """Keep a segment, unless it is known already with its bytes."""
    label = segment.label
    segments = found.setdefault((label.path, label.part, label.generation), {})
    before = segments.get(label.seq)
    if before is None or (before.pack is None and segment.pack is not None):
        segments[label.seq] = segment


def _make_source(segments: list[SavedSegment], row: SourceRow | None) -> SavedSource:
    segments = sorted(segments, key=lambda segment: segment.label.seq)
    last = segments[-1].label
    source = SavedSource(last.agent, last.path, last.part, last.generation, last.reader_version, last.stamp, segments)
    is_sure = source.is_whole and (row is None or (row.stamp, row.generation) == (last.stamp, last.generation))
    return source if is_sure else source._replace(stamp="")


def _has_hash(unpacked: bytes, label: SegmentLabel) -> bool:
    piece = unpacked[label.start : label.start + label.length]
    return len(piece) == label.length and sha256(piece).digest() == label.sha256


# Packs.
def _rowid_before(page: bytes, start: int, length: int) -> int | None:
    """The number of the row whose record begins at `start`, by the two numbers before it; None if they do not fit."""
    for at in range(max(0, start - 14), start - 1):
        try:
            stored, middle = read_varint(page, at)
            rowid, end = read_varint(page, middle)
        except IndexError:
            continue
        if stored == length and end == start:
            return rowid
    return None


def _header_size(length: int) -> int:
    """The bytes before the blob in a record of this length that has a number and a blob."""
    for size in range(1, 6):
        kind = (length - 2 - size) * 2 + 12
        if kind < 1 << (7 * size):
            return 2 + size
    raise ValueError("length of a record")


def _decompress_as_far_as_possible(pack: bytes) -> tuple[bytes, bool]:
    """The bytes of a pack, with zeros in place of what cannot be decompressed; and whether all could be."""
    pieces: list[bytes] = []
    is_whole = True
    for frame in split_frames(pack):
        try:
            if zstandard.frame_content_size(frame) > _LARGEST_FRAME:
                raise zstandard.ZstdError("length of a frame")
            pieces.append(zstandard.ZstdDecompressor().decompress(frame))
        except (zstandard.ZstdError, MemoryError):
            is_whole = False
            pieces.append(_decompress_beginning(frame))
    return b"".join(pieces), is_whole


def _decompress_beginning(frame: bytes) -> bytes:
    """The bytes before the damage, filled up with zeros to the length that the frame names."""
    pieces: list[bytes] = []
    length = 0
    stream = zstandard.ZstdDecompressor().decompressobj()
    try:
        length = zstandard.frame_content_size(frame)
        for at in range(0, len(frame), _STEP):
            pieces.append(stream.decompress(frame[at : at + _STEP]))  # noqa: PERF401 - those before an error count
    except (zstandard.ZstdError, MemoryError):
        pass
    found = b"".join(pieces)
    return found.ljust(length, b"\0") if 0 < length <= _LARGEST_FRAME else found


# The shapes of rows.
def _has_types(values: tuple[Value, ...], *types: type | tuple[type, ...]) -> bool:
    return len(values) == len(types) and all(isinstance(value, kind) for value, kind in zip(values, types, strict=True))


_NOTHING = type(None)


def _is_source(values: tuple[Value, ...]) -> TypeGuard[tuple[Any, ...]]:
    return _has_types(values, _NOTHING, str, str, str, str, int, int, (int, float))


def _is_segment(values: tuple[Value, ...]) -> TypeGuard[tuple[Any, ...]]:
    return _has_types(values, int, int, int, int, int, int, bytes) and len(values[6]) == _DIGEST  # type: ignore[arg-type]


def _is_session(values: tuple[Value, ...]) -> TypeGuard[tuple[Any, ...]]:
    return len(values) == 27 and _has_types(values[:6], _NOTHING, str, str, str, int, int)


def _is_redaction(values: tuple[Value, ...]) -> TypeGuard[tuple[Any, ...]]:
    return _has_types(values, int, str, int)
