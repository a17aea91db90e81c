"""Sources: opening a file, splitting it into blocks of complete lines, finding its reader, reading all its sessions.

Knows the readers only through the registry. Reading only what was added since last time is done in `ingest`.
"""

import os
from collections.abc import Iterator
from typing import BinaryIO, Literal, NamedTuple, Protocol, TypeAlias, cast

import msgspec
import zstandard

from preheat.agents import AGENTS, reader_of
from preheat.agents.documents import check_values
from preheat.agents.parsing import count_lines, decode_json
from preheat.agents.places import storable_path
from preheat.agents.reader import DatabaseReader, Parser, Reader
from preheat.errors import NotRecognised, SourceUnreadable, UserError
from preheat.files import FileTooLarge, NotAFile, PlainFile, open_file
from preheat.limits import Limits, current_limits, describe_limit
from preheat.model.session import Problem, Session

HEAD_SIZE = 64 * 1024
BLOCK_SIZE = 1024 * 1024
LARGEST_WINDOW = 1 << 27
"""Bytes of memory that unpacking a file may take, whatever its header says: no compressor asks for more unless it is told to."""
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


class SourceStream:
    """The bytes of a source, unpacked, up to the limits of one source."""

    def __init__(self, file: PlainFile, unpacked: ByteStream | None, limits: Limits) -> None:
        self._file = file
        self._stream: ByteStream = unpacked or file
        self._left = limits.source_bytes
        self.size = file.size
        self.limits = limits
        self.over_limit = ""
        """The limit that ended the reading; empty if all was read so far."""

    def read(self, size: int = -1, /) -> bytes:
        if size > self._left or size < 0:
            size = self._left
            if not size:
                self.over_limit = self.over_limit or ("source_mb" if self._stream.read(1) else "")
                return b""
        data = self._stream.read(size)
        self._left -= len(data)
        return data

    def seek(self, offset: int) -> None:
        """Go on at an offset from the beginning of a file that is not packed."""
        self._file.seek(offset)
        self._left = max(0, self.limits.source_bytes - offset)

    def blocks(self, line: int = 1) -> Iterator[Block]:
        """The blocks of a source of lines, the first of which is `line`."""
        for block in split_blocks(self, line, self.limits):
            if block.line > self.limits.records:
                self.over_limit = "records"
                return
            yield block

    def problem(self, path: str) -> Problem | None:
        """What to report of a source of which not all was read."""
        return limit_problem(self.over_limit, self.limits, path) if self.over_limit else None

    def __enter__(self) -> "SourceStream":
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()


def limit_problem(name: str, limits: Limits, path: str) -> Problem:
    """What to report of a source that is larger than the limit of this name."""
    amount = f"{limits.source_mb:,} MB" if name == "source_mb" else f"{limits.records:,} records"
    return Problem(f"more than {amount}: the rest is not read; {describe_limit(name)}", path)


def open_source(path: str) -> SourceStream:
    """Open a file for reading bytes; a `.zst` file is decompressed. Raises OSError."""
    file = open_file(path)
    if not path.endswith(".zst"):
        return SourceStream(file, None, current_limits())
    decompressor = zstandard.ZstdDecompressor(max_window_size=LARGEST_WINDOW)
    unpacked = decompressor.stream_reader(cast(BinaryIO, file), read_across_frames=True, closefd=False)
    return SourceStream(file, unpacked, current_limits())


def split_blocks(stream: ByteStream, line: int = 1, limits: Limits | None = None) -> Iterator[Block]:
    """Split a stream into blocks of about a megabyte that end at a line end."""
    longest = (limits or current_limits()).line_bytes
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
        if length > longest or (too_long and length):
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
    defect = ""
    for agent in AGENTS:
        found = reader_of(agent)
        try:
            if found.detect(head, path):
                return found
        except Exception as error:  # noqa: BLE001 - what one reader makes of a file must not cost the other files
            defect = defect or f"recognising {agent} failed, {describe_defect(error)}"
    if defect:
        raise UserError(f"`{path}` cannot be read: {defect}")
    raise NotRecognised(
        f"`{path}` is not a session of any agent that Preheat knows (`preheat admin doctor` lists them)"
    )


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
    except MemoryError as error:
        raise UserError(f"`{path}` cannot be read: {TOO_LARGE_FOR_MEMORY}") from error


def read_document(stream: SourceStream) -> bytes:
    """Read a whole stream. Raises SourceUnreadable or OSError if it is larger than the limits."""
    limits = stream.limits
    most = min(limits.document_bytes, limits.source_bytes)
    pieces: list[bytes] = []
    left = most
    while left and (piece := stream.read(min(left, 16 * BLOCK_SIZE))):
        pieces.append(piece)
        left -= len(piece)
    if not left and (stream.read(1) or stream.over_limit):
        name = "document_mb" if limits.document_bytes <= limits.source_bytes else "source_mb"
        raise SourceUnreadable(f"it is larger than {most >> 20} MB; {describe_limit(name)}")
    data = b"".join(pieces)
    check_values(data, limits)
    return data


def _read_lines(path: str, stream: SourceStream, parser: Parser) -> list[Session]:
    problems: list[Problem] = []
    for block in stream.blocks():
        problem = feed(parser, block, path)
        if problem and not (block.kind == "half" and stream.over_limit):  # the limit cut that line, not its writer
            problems.append(problem)
    if over := stream.problem(path):
        problems.append(over)
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
        limit = current_limits().line_mb
        return Problem(
            f"a line of more than {limit} MB; kept but not read; {describe_limit('line_mb')}", path, block.line
        )
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
    rows = LimitedRows(by.dump(path, part))
    for line, row in enumerate(rows, 1):
        parser.feed(row + b"\n", line)
    sessions = parser.take()
    if sessions and (over := rows.problem(storable_path(path))):
        sessions[0] = msgspec.structs.replace(sessions[0], problems=(*sessions[0].problems, over))
    return sessions


class LimitedRows:
    """The rows of one session of a database, up to the limits of one source."""

    def __init__(self, rows: Iterator[bytes]) -> None:
        self._rows = rows
        self._limits = current_limits()
        self._over_limit = ""

    def __iter__(self) -> Iterator[bytes]:
        left = self._limits.source_bytes
        for number, row in enumerate(self._rows):
            left -= len(row)
            if left < 0 or number >= self._limits.records:
                self._over_limit = "source_mb" if left < 0 else "records"
                return
            yield row

    def problem(self, path: str) -> Problem | None:
        """What to report of a session of which not all rows were read."""
        return limit_problem(self._over_limit, self._limits, path) if self._over_limit else None


TOO_LARGE_FOR_MEMORY = "it is too large for this machine's memory"


def describe_defect(error: Exception) -> str:
    """An error that should not have happened, for the person who may report it."""
    return f"a defect in Preheat's reader ({type(error).__name__}: {str(error)[:200]}); please report it"


def describe_error(error: Exception) -> str:
    """Why something failed, in a few words for the person."""
    if isinstance(error, NotAFile | FileTooLarge):
        return str(error.strerror)
    if isinstance(error, FileNotFoundError):
        return "it is not there (any more)"
    if isinstance(error, PermissionError):
        return "no permission"
    if isinstance(error, IsADirectoryError):
        return "it is a folder"
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno)
    return str(error) or type(error).__name__
