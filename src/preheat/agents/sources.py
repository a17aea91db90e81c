"""Sources: opening a file, splitting it into blocks of complete lines, finding its reader, reading all its sessions.

Knows the readers only through the registry. Reading only what was added since last time is done in `ingest`.
"""

import os
from collections.abc import Iterator
from typing import BinaryIO, Literal, NamedTuple, Protocol, TypeAlias, cast

import msgspec
import zstandard

from preheat.agents import AGENTS, reader_of
from preheat.agents.parsing import count_lines, decode_json
from preheat.agents.places import storable_path
from preheat.agents.reader import DatabaseReader, Parser, Reader
from preheat.errors import NotRecognised, SourceUnreadable, UserError
from preheat.model.session import Problem, Session

HEAD_SIZE = 64 * 1024
BLOCK_SIZE = 1024 * 1024
MAX_LINE_SIZE = 32 * 1024 * 1024
"""A longer line is archived but not read: the largest real lines of transcripts are a few MB."""
MAX_DOCUMENT_SIZE = 512 * 1024 * 1024
_SAFE_CUTS = b" \t,{}[]"

BlockKind: TypeAlias = Literal["lines", "half", "piece", "last piece"]


class ByteStream(Protocol):
    """A stream that returns bytes until it returns none."""

    def read(self, size: int, /) -> bytes: ...


class Block(NamedTuple):
    """Bytes of a source of lines: complete lines, a last line without line end, or pieces of a line that is too long to read."""

    kind: BlockKind
    data: bytes
    line: int
    next_line: int


def open_source(path: str) -> BinaryIO:
    """Open a file for reading bytes; a `.zst` file is decompressed."""
    stream = open(path, "rb")  # noqa: SIM115 - the caller closes it
    if path.endswith(".zst"):
        decompressor = zstandard.ZstdDecompressor(max_window_size=2**31)
        return cast(BinaryIO, decompressor.stream_reader(stream, read_across_frames=True, closefd=True))
    return stream


def split_blocks(stream: ByteStream, line: int = 1) -> Iterator[Block]:
    """Split a stream into blocks of about a megabyte that end at a line end."""
    pieces: list[bytes] = []
    length, too_long = 0, False
    while chunk := stream.read(BLOCK_SIZE):
        cut = chunk.find(b"\n") + 1 if too_long else chunk.rfind(b"\n") + 1
        if cut and too_long:
            yield Block("last piece", b"".join([*pieces, chunk[:cut]]), line, line + 1)
            pieces, length, too_long = [], 0, False
            line += 1
            chunk = chunk[cut:]
            cut = chunk.rfind(b"\n") + 1
        if cut:
            data = b"".join([*pieces, memoryview(chunk)[:cut]])
            following = line + count_lines(data)
            yield Block("lines", data, line, following)
            line = following
            pieces, chunk = [], chunk[cut:]
            length = 0
        if chunk:
            pieces.append(chunk)
            length += len(chunk)
        if length > MAX_LINE_SIZE or (too_long and length):
            too_long = True
            data = b"".join(pieces)
            safe = max(data.rfind(byte, len(data) - HEAD_SIZE) for byte in (bytes([cut]) for cut in _SAFE_CUTS)) + 1
            yield Block("piece", data[:safe] if safe else data, line, line)
            pieces = [data[safe:]] if safe and safe < len(data) else []
            length = sum(map(len, pieces))
    if pieces or too_long:
        # The line is not finished: the next reading begins with its rest, on the same line.
        yield Block("last piece" if too_long else "half", b"".join(pieces), line, line)


def detect(path: str) -> Reader:
    """Find the reader of a file by its content. Raises NotRecognised, or UserError if it cannot be opened."""
    try:
        with open_source(path) as stream:
            head = stream.read(HEAD_SIZE)
    except (OSError, zstandard.ZstdError) as error:
        raise UserError(f"`{path}` cannot be read: {describe_error(error)}") from error
    if not head.strip():
        raise NotRecognised(f"`{path}` is empty")
    for agent in AGENTS:
        found = reader_of(agent)
        if found.detect(head, path):
            return found
    raise NotRecognised(f"`{path}` is not a session of any agent that Preheat knows (`preheat doctor` lists them)")


def read(path: str, reader: Reader | None = None) -> list[Session]:
    """Read every session in a file. Raises UserError if the file cannot be opened; damage inside becomes problems."""
    reader = reader or detect(path)
    try:
        if reader.framing(path) == "database":
            return list(_read_database(path, cast(DatabaseReader, reader)))
        parser = reader.parser(storable_path(path))
        with open_source(path) as stream:
            if reader.framing(path) == "lines":
                return _read_lines(storable_path(path), stream, parser)
            parser.feed(read_document(stream), 1)
        return parser.take()
    except (OSError, zstandard.ZstdError, SourceUnreadable) as error:
        raise UserError(f"`{path}` cannot be read: {describe_error(error)}") from error


def read_document(stream: ByteStream) -> bytes:
    """Read a whole stream. Raises SourceUnreadable if it is larger than the limit."""
    data = stream.read(MAX_DOCUMENT_SIZE + 1)
    if len(data) > MAX_DOCUMENT_SIZE:
        raise SourceUnreadable(f"it is larger than {MAX_DOCUMENT_SIZE >> 20} MB; split it first")
    return data


def _read_lines(path: str, stream: BinaryIO, parser: Parser) -> list[Session]:
    problems = [problem for block in split_blocks(stream) if (problem := feed(parser, block, path))]
    sessions = parser.take()
    if problems and sessions:
        first = sessions[0]
        sessions[0] = msgspec.structs.replace(first, problems=(*first.problems, *problems))
    return sessions


def feed(parser: Parser, block: Block, path: str) -> Problem | None:
    """Feed one block to a parser; returns a problem if the block is an incomplete line."""
    if block.kind == "lines" or (block.kind == "half" and is_complete_record(block.data)):
        parser.feed(block.data, block.line)
    elif block.kind == "half":
        return Problem(f"the last line is only half written ({len(block.data):,} bytes)", path, block.line)
    elif block.kind == "last piece":
        return Problem(f"a line of more than {MAX_LINE_SIZE >> 20} MB; kept but not read", path, block.line)
    return None


def is_complete_record(text: bytes) -> bool:
    """Whether a line without a line end is a complete record."""
    if not text.rstrip().endswith(b"}"):
        return False
    try:
        decode_json(text)
    except (ValueError, RecursionError):
        return False
    return True


def read_part(path: str, reader: Reader, part: str) -> list[Session]:
    """Read one session of a database, by its name in it. Raises UserError if it cannot be read."""
    try:
        return _read_part(path, cast(DatabaseReader, reader), part)
    except (OSError, SourceUnreadable) as error:
        raise UserError(f"`{path}` cannot be read: {describe_error(error)}") from error


def _read_database(path: str, by: DatabaseReader) -> Iterator[Session]:
    for part in by.parts(path):
        yield from _read_part(path, by, part.id)


def _read_part(path: str, by: DatabaseReader, part: str) -> list[Session]:
    parser = by.parser(storable_path(path), part)
    for line, row in enumerate(by.dump(path, part), 1):
        parser.feed(row + b"\n", line)
    return parser.take()


def describe_error(error: Exception) -> str:
    """Why something failed, in a few words for the person."""
    if isinstance(error, FileNotFoundError):
        return "it is not there (any more)"
    if isinstance(error, PermissionError):
        return "no permission"
    if isinstance(error, IsADirectoryError):
        return "it is a folder"
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno)
    return str(error) or type(error).__name__
