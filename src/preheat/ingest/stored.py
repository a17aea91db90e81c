"""Reads sessions from the bytes that the archive keeps of a source.

Knows nothing of the archive or of files: the bytes are passed in.
"""

from collections.abc import Iterable

from preheat.agents import reader_of
from preheat.agents.sources import feed, split_blocks
from preheat.model.session import Session


def read_stored_sessions(agent: str, path: str, part: str, pieces: Iterable[bytes]) -> list[Session]:
    """The sessions of a source, read by its agent's present reader; no file at `path` is opened."""
    reader = reader_of(agent)
    parser = reader.parser(path, part)
    if reader.framing(path) == "document":
        parser.feed(b"".join(pieces), 1)
    else:
        for block in split_blocks(_Stream(pieces)):
            feed(parser, block, path)
    return parser.take()


class _Stream:
    """A stream over the pieces of a source."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = iter(pieces)
        self._piece, self._at = b"", 0

    def read(self, size: int) -> bytes:
        while self._at >= len(self._piece):
            following = next(self._pieces, None)
            if following is None:
                return b""
            self._piece, self._at = following, 0
        start = self._at
        self._at += size
        return self._piece[start : self._at]
