"""Compresses bytes and passages for the archive, and decompresses them.

Knows nothing of what they mean.
"""

from hashlib import sha256

import msgspec
import zstandard

from preheat.archive.rows import Passage, Segment
from preheat.errors import ArchiveUnusable

PACK_SIZE = 16 * 1024 * 1024
"""Bytes after which a pack is closed."""
COMPRESSION_LEVEL = 3
_WINDOW = 24

_PASSAGES = msgspec.msgpack.Decoder(list[Passage])


class Packer:
    """Collects the bytes of several sources, one after the other, into packs of a few megabytes."""

    def __init__(self) -> None:
        self.packs: list[bytes] = []
        self._pieces: list[bytes] = []
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
        segments, self._segments = self._segments, []
        return segments

    def forget_source(self) -> None:
        """Drop the bytes of the present source that are not packed yet: it could not be read to its end."""
        kept = b"".join(self._pieces)[: self._start]
        self._pieces, self._length = [kept] if kept else [], self._start
        self._segments, self._hash = [], sha256()

    def _close_segment(self) -> None:
        if self._length > self._start:
            self._segments.append(
                Segment(len(self.packs), self._start, self._length - self._start, self._hash.digest())
            )
        self._start, self._hash = self._length, sha256()

    def close(self) -> None:
        """Compress what has been collected."""
        if self._pieces:
            self.packs.append(compress(b"".join(self._pieces)))
        self._pieces, self._length, self._start = [], 0, 0


def compress(data: bytes) -> bytes:
    """Compress bytes, with a checksum."""
    if len(data) < PACK_SIZE // 4:  # a large window costs its memory even when there is little to put into it
        return zstandard.ZstdCompressor(level=COMPRESSION_LEVEL, write_checksum=True).compress(data)
    parameters = zstandard.ZstdCompressionParameters.from_level(
        COMPRESSION_LEVEL, window_log=_WINDOW, source_size=len(data), write_checksum=True
    )
    return zstandard.ZstdCompressor(compression_params=parameters).compress(data)


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
        """Decompress bytes. Raises ArchiveUnusable if the bytes are damaged."""
        try:
            return self._decompressor.decompress(data)
        except zstandard.ZstdError as error:
            raise ArchiveUnusable(f"a part of the archive is damaged ({error}); `preheat doctor` says which") from error


def decompress(data: bytes) -> bytes:
    """Decompress bytes. Raises ArchiveUnusable if the bytes are damaged."""
    return Decompressor().decompress(data)


def pack_passages(passages: list[Passage]) -> bytes:
    """Passages as compressed bytes; no bytes for none."""
    return (
        zstandard.ZstdCompressor(level=COMPRESSION_LEVEL).compress(msgspec.msgpack.encode(passages))
        if passages
        else b""
    )


def unpack_passages(packed: bytes) -> list[Passage]:
    """Undo `pack_passages`. Raises ArchiveUnusable."""
    return _PASSAGES.decode(decompress(packed))
