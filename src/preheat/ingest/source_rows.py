"""Reads sources: redacts and packs their bytes, and turns their sessions into rows for the archive. Runs in worker processes.

Redaction comes first: parsers, rows and archive see redacted bytes only. Knows nothing of the database, nor of how a session
is analysed: that function is passed in.
"""

import gc
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from typing import Any, NamedTuple, TypeAlias, cast

import zstandard

from preheat.agents import reader_of
from preheat.agents.places import storable_path
from preheat.agents.reader import DatabaseReader, Parser
from preheat.agents.sources import (
    TOO_LARGE_FOR_MEMORY,
    LimitedRows,
    SourceStream,
    describe_defect,
    describe_error,
    feed,
    is_complete_record,
    open_source,
    read_document,
)
from preheat.archive.packing import COMPRESSION_LEVEL, Packer, pack_passages
from preheat.archive.rows import (
    AnalysisRows,
    Batch,
    CallRow,
    Delta,
    KnownSource,
    Passage,
    Position,
    ResponseRow,
    ResultRow,
    SessionRows,
)
from preheat.calls.words import LONGEST_SUMMARY, flatten, summarise
from preheat.errors import SourceUnreadable
from preheat.files import open_file
from preheat.ingest.redact import redact
from preheat.model.session import (
    AssistantMessage,
    Compaction,
    Problem,
    Session,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
    number_of_id,
)

# Reading.
TAIL_LENGTH = 4096
"""Bytes before the position in a growing file that must be unchanged for the reading to go on from there."""

LoadAnalysis: TypeAlias = Callable[[], Callable[[Session], AnalysisRows]]
"""Loads the function that analyses a whole session; called only when there is one, because loading is slow. It is sent to other
processes by name, so it must be a module-level function."""


class ReadJob(NamedTuple):
    """A source to be read, and how far it was read before."""

    agent: str
    path: str
    part: str
    size: int
    stamp: str
    reader_version: int
    known: KnownSource | None
    position: Position | None
    name: str = ""
    """What the source is called, where `path` is only a copy of it; empty: as its path."""

    @property
    def title(self) -> str:
        return self.name or storable_path(self.path)


class RedactingPacker:
    """Redacts bytes before they are packed, and counts the redactions of the present source. Without a packer the bytes are
    only redacted."""

    def __init__(self, packer: Packer | None) -> None:
        self._packer = packer
        self.redactions: dict[str, int] = {}

    def add(self, data: bytes) -> bytes:
        """Redact and pack bytes; returns the redacted ones for parsing."""
        clean, found = redact(data)
        for kind, count in found.items():
            self.redactions[kind] = self.redactions.get(kind, 0) + count
        if self._packer is not None:
            self._packer.add(clean)
        return clean


class Reading(NamedTuple):
    """What was read from a source, before rows are made of it."""

    parser: Parser
    redactions: dict[str, int]
    problems: list[Problem]
    position: Position | None
    grown: bool
    size: int


def read_sources(jobs: list[ReadJob], load: LoadAnalysis) -> Batch:
    """Read some sources. A failure of one of them is stored in its delta, never raised."""
    gc.disable()  # nothing below makes cycles, and there are millions of small values
    packer = Packer()
    try:
        deltas = [read_source(job, packer, load) for job in jobs]
    finally:
        gc.enable()
    packer.close()
    return Batch(packer.packs, deltas)


def read_source(job: ReadJob, packer: Packer | None, load: LoadAnalysis) -> Delta:
    """Read one source; a failure is stored in its delta, never raised. Without a packer neither the bytes nor the passages for
    searching are kept."""
    try:
        return make_delta(job, _read(job, RedactingPacker(packer)), packer, load)
    except (OSError, zstandard.ZstdError, SourceUnreadable) as error:
        why = describe_error(error)
    except MemoryError:
        why = TOO_LARGE_FOR_MEMORY
    except Exception as error:  # noqa: BLE001 - a defect of ours in one reader must not cost the sessions of the others
        why = describe_defect(error)
    if packer is not None:
        packer.forget_source()
    return Delta(
        job.agent, job.title, job.part, job.stamp, job.reader_version, job.known, False, job.size, None, [], [], [], {}, why,
    )  # fmt: skip


def _read(job: ReadJob, cleaner: RedactingPacker) -> Reading:
    reader = reader_of(job.agent)
    parser = reader.parser(job.title, job.part)
    framing = reader.framing(job.path)
    if framing == "lines":
        return _read_lines(job, parser, cleaner)
    if framing == "document":
        with open_source(job.path) as stream:
            data = read_document(stream)
        parser.feed(cleaner.add(data), 1)
        return Reading(parser, cleaner.redactions, [], None, False, len(data))
    size, line = 0, 1
    rows = LimitedRows(cast(DatabaseReader, reader).dump(job.path, job.part))
    for row in rows:
        clean = cleaner.add(row + b"\n")
        parser.feed(clean, line)
        size, line = size + len(clean), line + 1
    over = rows.problem(job.title)
    return Reading(parser, cleaner.redactions, [over] if over else [], None, False, size)


def _read_lines(job: ReadJob, parser: Parser, cleaner: RedactingPacker) -> Reading:
    problems: list[Problem] = []
    with open_source(job.path) as stream:
        before = _resume(job, stream, parser)
        start, line, tail = (before.offset, before.line, b"") if before else (0, 1, b"")
        offset = start
        for block in stream.blocks(line):
            if block.kind == "half" and not is_complete_record(block.data):
                # The line is still being written, and the next sync reads it; unless it is no record at all.
                if not block.data.lstrip().startswith(b"{"):
                    problems.append(Problem("not a JSON record; passed over", job.title, block.line))
                break
            clean = cleaner.add(block.data)
            if problem := feed(parser, block._replace(data=clean), job.title):
                problems.append(problem)
            offset += len(block.data)
            tail = block.data[-TAIL_LENGTH:] if len(block.data) >= TAIL_LENGTH else (tail + block.data)[-TAIL_LENGTH:]
            line = block.next_line
        if over := stream.problem(job.title):
            problems.append(over)
    state = parser.save()
    position = None
    if state is not None and not job.path.endswith(".zst"):
        tail_hash = sha256(tail).digest() if len(tail) >= min(TAIL_LENGTH, offset) else _tail_hash(job.path, offset)
        position = Position(offset, line, tail_hash, zstandard.ZstdCompressor(level=COMPRESSION_LEVEL).compress(state))
    return Reading(parser, cleaner.redactions, problems, position, before is not None, offset - start)


def _resume(job: ReadJob, stream: SourceStream, parser: Parser) -> Position | None:
    """Continue where the last reading ended, if the bytes before are unchanged."""
    position = job.position
    if (
        position is None
        or position.state is None
        or job.known is None
        or job.known.reader_version != job.reader_version
        or stream.size < position.offset
        or _tail_hash(job.path, position.offset) != position.tail
    ):
        return None
    try:
        state = zstandard.ZstdDecompressor().decompress(position.state)
    except zstandard.ZstdError:  # damaged in the archive: the source is read whole
        return None
    parser.load(state)
    stream.seek(position.offset)
    return position


def _tail_hash(path: str, offset: int) -> bytes:
    with open_file(path) as stream:
        stream.seek(max(0, offset - TAIL_LENGTH))
        return sha256(stream.read(min(TAIL_LENGTH, offset))).digest()


def make_delta(job: ReadJob, reading: Reading, packer: Packer | None, load: LoadAnalysis | None) -> Delta:
    """What a reading stores; without `load` its sessions are left for a later analysis."""
    sessions = reading.parser.take()
    found = [*(problem for session in sessions for problem in session.problems), *reading.problems]
    problems = [(problem.line, problem.message) for problem in found]
    # A session without events only carries problems, unless it is the growth of a known session.
    rows: list[SessionRows] = [
        make_session_rows(session, packer is not None) for session in sessions if session.events or reading.grown
    ]
    if not reading.grown and load is not None:
        whole = (session for session in sessions if session.events)
        rows = [each._replace(analysis=_analyse(session, load)) for each, session in zip(rows, whole, strict=True)]
    return Delta(
        job.agent, job.title, job.part, job.stamp, job.reader_version, job.known, reading.grown, reading.size,
        reading.position, packer.end_source() if packer is not None else [], rows, problems, reading.redactions,
    )  # fmt: skip


def _analyse(session: Session, load: LoadAnalysis) -> AnalysisRows | None:
    """The analysis of a session; None where that fails: a later analysis reports why."""
    try:
        return load()(session)
    except Exception:  # noqa: BLE001 - a defect of ours must not keep a session out of the archive
        return None


# Rows of a session.
LONGEST_PASSAGE = 32 * 1024
"""Characters of a text that are searchable; the archive keeps all of it."""


def make_session_rows(session: Session, with_passages: bool = True) -> SessionRows:
    """The rows of a session, or of its growth; without passages it cannot be searched."""
    calls: list[CallRow] = []
    index_by_call: dict[str, int] = {}
    late: list[ResultRow] = []
    responses: dict[str, ResponseRow] = {}
    passages: list[Passage] = []
    opening = ""
    numbered = cache(number_of_id)  # the calls of a response come together
    counts = dict.fromkeys(("events", "prompts", "messages", "calls", "errors", "compactions"), 0)
    counts["events"] = len(session.events)
    for event in session.events:
        if isinstance(event, AssistantMessage):
            if event.text:
                counts["messages"] += 1
                passages.append(Passage(event.line, "assistant", event.text[:LONGEST_PASSAGE]))
            if event.usage is not None:
                responses[event.response or f"line {event.line}"] = _response(event, event.usage)
        elif isinstance(event, ToolCall):
            counts["messages"] += 1
            summary = summarise(event.input)
            if event.kind == "shell":
                passages.append(Passage(event.line, "command", whole_command(event.input)[:LONGEST_PASSAGE]))
            index_by_call.setdefault(event.call_id, len(calls))
            calls.append(
                CallRow(
                    event.call_id, event.line, numbered(event.response), event.tool, event.kind,
                    summary[:LONGEST_SUMMARY], event.at,
                )
            )  # fmt: skip
        elif isinstance(event, ToolResult):
            counts["messages"] += 1
            counts["errors"] += event.is_error is True or bool(event.exit_code)
            _add_result(event, calls, index_by_call, late)
        elif isinstance(event, UserMessage):
            if event.origin == "human":
                counts["prompts"] += 1
                counts["messages"] += 1
                opening = opening or event.text[:LONGEST_SUMMARY]
                passages.append(Passage(event.line, "human", event.text[:LONGEST_PASSAGE]))
        elif isinstance(event, Compaction):
            counts["compactions"] += 1
    counts["calls"] = len(calls)
    heading = {
        name: getattr(session, name)
        for name in (
            "version", "model", "project", "branch", "parent", "relation", "started_at", "ended_at", "starter", "title",
        )
    }  # fmt: skip
    if not with_passages:
        passages = []
    return SessionRows(
        session.id, heading, opening, counts, calls, late, list(responses.values()), passages, pack_passages(passages)
    )


def _response(event: AssistantMessage, usage: Usage) -> ResponseRow:
    return ResponseRow(
        number_of_id(event.response or f"line {event.line}"), event.model, event.at, usage.input, usage.output, usage.cache_read,
        usage.cache_write, usage.reasoning, usage.cache_write_hour,
    )  # fmt: skip


def _add_result(result: ToolResult, calls: list[CallRow], index_by_call: dict[str, int], late: list[ResultRow]) -> None:
    size = len(result.text)
    index = index_by_call.get(result.call_id)
    if index is None:
        late.append(ResultRow(result.at, result.is_error, result.exit_code, size, result.call_id))
    elif calls[index].output_size is None:
        calls[index] = calls[index]._replace(
            ended_at=result.at, is_error=result.is_error, exit_code=result.exit_code, output_size=size
        )


def whole_command(arguments: dict[str, Any]) -> str:
    """The command of a shell call, as it was typed."""
    for name in ("command", "cmd", "commands", "script"):
        value = arguments.get(name)
        if value:
            return value if isinstance(value, str) else flatten(value)
    return summarise(arguments)
