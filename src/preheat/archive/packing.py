"""Compresses bytes and passages for the archive, and decompresses them.

Knows nothing of what they mean.
"""

from collections.abc import Iterable
from hashlib import sha256
from itertools import accumulate
from typing import NamedTuple, Protocol, TypeVar

import msgspec
import zstandard

from preheat.archive.rows import Passage, Segment
from preheat.errors import ArchiveDamaged

PACK_SIZE = 16 * 1024 * 1024
"""Bytes after which a pack is closed."""
FRAME_SIZE = 4 * 1024 * 1024
"""Bytes after which a frame of a pack is closed when a source ends. With one frame for the whole pack real sessions
take 1 % less room."""
COMPRESSION_LEVEL = 3
_WINDOW = 24
FRAME_START = zstandard.FRAME_HEADER
"""The first bytes of everything that `compress` makes."""
_SKIPPABLE = b"\x50\x2a\x4d\x18"
"""The first bytes of a skippable frame of zstd."""

_PASSAGES = msgspec.msgpack.Decoder(list[Passage])

Stored = TypeVar("Stored", covariant=True)


class StoredDecoder(Protocol[Stored]):
    """A decoder of JSON or MessagePack."""

    def decode(self, data: bytes, /) -> Stored: ...


class Packer:
    """Collects the bytes of several sources, one after the other, into packs of a few megabytes. A pack is made of frames, so
    that damage costs the sources of one of them."""

    def __init__(self) -> None:
        self.packs: list[bytes] = []
        self._frames: list[bytes] = []
        self._pieces: list[bytes] = []
        self._frame_start = 0
        self._length = 0
        self._segments: list[Segment] = []
        self._start = 0
        self._hash = sha256()

    def add(self, data: bytes) -> None:
        """More bytes of the present source."""
        self._pieces.append(data)
        self._length += len(data)
        self._hash.update(data)
        if self._length >= PACK_SIZE:
            self._close_segment()
            self.close()

    def end_source(self) -> list[Segment]:
        """End the present source; returns its segments."""
        self._close_segment()
        if self._length - self._frame_start >= FRAME_SIZE:
            self._close_frame()
        segments, self._segments = self._segments, []
        return segments

    def forget_source(self) -> None:
        """Drop the bytes of the present source that are not packed yet: it could not be read to its end."""
        kept = b"".join(self._pieces)[: self._start - self._frame_start]
        self._pieces, self._length = [kept] if kept else [], self._start
        self._segments, self._hash = [], sha256()

    def _close_segment(self) -> None:
        if self._length > self._start:
            self._segments.append(
                Segment(len(self.packs), self._start, self._length - self._start, self._hash.digest())
            )
        self._start, self._hash = self._length, sha256()

    def _close_frame(self) -> None:
        if self._pieces:
            self._frames.append(compress(b"".join(self._pieces)))
        self._pieces, self._frame_start = [], self._length

    def close(self) -> None:
        """Compress what has been collected."""
        self._close_frame()
        if self._frames:
            self.packs.append(_join_frames(self._frames, []))
        self._frames, self._frame_start, self._length, self._start = [], 0, 0, 0


def compress(data: bytes) -> bytes:
    """Compress bytes, with a checksum."""
    if len(data) < PACK_SIZE // 4:  # a large window costs its memory even when there is little to put into it
        return zstandard.ZstdCompressor(level=COMPRESSION_LEVEL, write_checksum=True).compress(data)
    parameters = zstandard.ZstdCompressionParameters.from_level(
        COMPRESSION_LEVEL, window_log=_WINDOW, source_size=len(data), write_checksum=True
    )
    return zstandard.ZstdCompressor(compression_params=parameters).compress(data)


# Labels.
class SegmentLabel(NamedTuple):
    """What a pack says of one of its segments, so that the bytes can be read again without the tables."""

    agent: str
    path: str
    part: str
    generation: int
    seq: int
    reader_version: int
    stamp: str
    start: int
    length: int
    sha256: bytes


_LABELS = msgspec.msgpack.Decoder(list[SegmentLabel])
_PACK_END = b"PHP1"


def add_label(pack: bytes, segments: list[SegmentLabel]) -> bytes:
    """A pack with a label in place of the one it has."""
    return _join_frames(split_frames(pack), segments)


def compress_pack(pieces: Iterable[bytes], segments: list[SegmentLabel]) -> bytes:
    """The bytes of sources as one pack with a label."""
    frames: list[bytes] = []
    waiting: list[bytes] = []
    for piece in pieces:
        waiting.append(piece)
        if sum(map(len, waiting)) >= FRAME_SIZE:
            frames.append(compress(b"".join(waiting)))
            waiting = []
    return _join_frames([*frames, compress(b"".join(waiting))] if waiting or not frames else frames, segments)


def _join_frames(frames: list[bytes], segments: list[SegmentLabel]) -> bytes:
    """A pack: its frames, then a frame that zstd passes over. That one holds the label, the lengths of the frames, their number,
    the length of the label, and a mark."""
    label = zstandard.ZstdCompressor(level=COMPRESSION_LEVEL, write_checksum=True).compress(
        msgspec.msgpack.encode(segments)
    )
    numbers = [*(len(frame) for frame in frames), len(frames), len(label)]
    table = b"".join(number.to_bytes(4, "little") for number in numbers)
    tail = b"".join([label, table, _PACK_END])
    return b"".join([*frames, _SKIPPABLE, len(tail).to_bytes(4, "little"), tail])


def split_frames(pack: bytes) -> list[bytes]:
    """The compressed frames of a pack, without its label. A pack of Preheat 0.2 and before is one frame; so is one whose table
    of frames is damaged."""
    if pack[-4:] != _PACK_END:
        return [pack]
    number, label = (int.from_bytes(pack[at : at + 4], "little") for at in (-12 + len(pack), -8 + len(pack)))
    start = len(pack) - 12 - 4 * number
    lengths = [int.from_bytes(pack[at : at + 4], "little") for at in range(start, len(pack) - 12, 4)]
    if number > len(pack) or start < 0 or sum(lengths) + 8 + label != start:
        return [pack]
    ends = list(accumulate(lengths))
    return [pack[end - length : end] for length, end in zip(lengths, ends, strict=True)]


def read_label(pack: bytes) -> list[SegmentLabel]:
    """The label of a pack; empty if it has none, as those of Preheat 0.2 and before, or a damaged one."""
    if pack[-4:] != _PACK_END or len(pack) < 12:
        return []
    number, length = (int.from_bytes(pack[at : at + 4], "little") for at in (-12 + len(pack), -8 + len(pack)))
    end = len(pack) - 12 - 4 * number
    try:
        return _LABELS.decode(zstandard.ZstdDecompressor().decompress(pack[max(0, end - length) : max(0, end)]))
    except (zstandard.ZstdError, msgspec.DecodeError, UnicodeDecodeError):
        return []


class SmallCompressor:
    """Compresses many small texts with one compressor, which is slow to make. For one thread."""

    def __init__(self) -> None:
        self._compressor = zstandard.ZstdCompressor(level=COMPRESSION_LEVEL, write_checksum=True)

    def compress(self, data: bytes) -> bytes:
        return self._compressor.compress(data)


class Decompressor:
    """Decompresses many texts with one decompressor. For one thread."""

    def __init__(self) -> None:
        self._decompressor = zstandard.ZstdDecompressor()

    def decompress(self, data: bytes) -> bytes:
        """Decompress bytes, or a pack. Raises ArchiveDamaged if the bytes are damaged."""
        try:
            if data[-4:] == _PACK_END:
                return b"".join(self._decompressor.decompress(frame) for frame in split_frames(data))
            return self._decompressor.decompress(data)
        except (zstandard.ZstdError, MemoryError, TypeError) as error:
            raise ArchiveDamaged(str(error)) from error


def decompress(data: bytes) -> bytes:
    """Decompress bytes, or a pack. Raises ArchiveDamaged if the bytes are damaged."""
    return Decompressor().decompress(data)


def pack_passages(passages: list[Passage]) -> bytes:
    """Passages as compressed bytes; no bytes for none."""
    return (
        zstandard.ZstdCompressor(level=COMPRESSION_LEVEL).compress(msgspec.msgpack.encode(passages))
        if passages
        else b""
    )


def unpack_passages(packed: bytes) -> list[Passage]:
    """Undo `pack_passages`. Raises ArchiveDamaged."""
    return decode_stored(_PASSAGES, decompress(packed))


def decode_stored(decoder: StoredDecoder[Stored], data: bytes) -> Stored:
    """Decode a stored value. Raises ArchiveDamaged if it is damaged."""
    try:
        return decoder.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, TypeError) as error:
        raise ArchiveDamaged(str(error)) from error
