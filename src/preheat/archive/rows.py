"""The rows that a reading of a source gives: plain values that are sent between processes. Light: standard library only.

Knows nothing of files, readers or SQL.
"""

from typing import Any, NamedTuple


class CallRow(NamedTuple):
    """One call; the last four fields are empty until its result is read."""

    call_id: str
    line: int
    response: int
    tool: str
    kind: str
    summary: str
    at: float | None
    ended_at: float | None = None
    is_error: bool | None = None
    exit_code: int | None = None
    output_size: int | None = None


class ResultRow(NamedTuple):
    """A result whose call was stored by an earlier sync."""

    ended_at: float | None
    is_error: bool | None
    exit_code: int | None
    output_size: int
    call_id: str


class ResponseRow(NamedTuple):
    """Tokens of one model response."""

    response: int
    model: str
    at: float | None
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    reasoning_tokens: int
    cache_write_hour_tokens: int


class OutcomeRow(NamedTuple):
    """A judged call. Status, rung and cause are indexes into the tuples of `model.outcome`, purpose and signature into
    the lists of the session."""

    seq: int
    message: int
    era: int
    purpose: int
    status: int
    rung: int
    cause: int | None
    exit_code: int | None
    signature: int | None
    confidence: float
    repeated: bool
    reread: bool
    seconds: float | None
    lost_seconds: float
    lost_tokens: int
    recovered_in: int | None


class NoteRow(NamedTuple):
    """The packed notes of a learner on a session; `data` is None where it found nothing. `stamp` is a hash of the notes."""

    learner: str
    version: int
    stamp: int
    data: bytes | None


class AnalysisRows(NamedTuple):
    """The analysis of a session as rows."""

    version: str
    errors: int
    """Judged calls that failed."""
    purposes: list[tuple[str, str, str, bool]]
    signatures: list[str]
    outcomes: list[OutcomeRow]
    profile: bytes
    notes: list[NoteRow]
    episodes: bytes
    statement: bytes
    """What the session says of the project that it worked in."""
    tree: bytes | None
    """What the working tree says of it, where there is one."""


class Passage(NamedTuple):
    """A searchable text; `kind` is human, assistant or command."""

    line: int
    kind: str
    text: str


class SessionRows(NamedTuple):
    """One session as it was read, or what it has grown by."""

    session: str
    heading: dict[str, Any]
    """Columns of the table `sessions` that are no counts."""
    opening: str
    counts: dict[str, int]
    calls: list[CallRow]
    results: list[ResultRow]
    """Results of calls that were stored before."""
    responses: list[ResponseRow]
    passages: list[Passage]
    packed_passages: bytes
    """The passages, compressed."""
    analysis: AnalysisRows | None = None
    """None where only a part of the session was read, or the analysis failed: it is analysed later."""


class Segment(NamedTuple):
    """Some bytes of a source in a pack; `pack` is an index into the packs of the batch."""

    pack: int
    start: int
    length: int
    sha256: bytes


class Position(NamedTuple):
    """How far a growing file was read."""

    offset: int
    """The next byte to read."""
    line: int
    """The number of the next line."""
    tail: bytes
    """A hash of the bytes before `offset`, to notice that they were changed."""
    state: bytes | None
    """The parser's state, compressed."""


class KnownSource(NamedTuple):
    """The state of a source in the archive."""

    id: int
    stamp: str
    reader_version: int
    generation: int


class Delta(NamedTuple):
    """The result of reading a source."""

    agent: str
    path: str
    part: str
    stamp: str
    reader_version: int
    known: KnownSource | None
    """The state in the archive before; None: it is new."""
    grown: bool
    """Only the new end of the source was read."""
    size: int
    """Bytes read, for the progress bar."""
    position: Position | None
    segments: list[Segment]
    sessions: list[SessionRows]
    problems: list[tuple[int | None, str]]
    redactions: dict[str, int]
    failure: str = ""
    """Why the source could not be read at all: then nothing of it is stored."""


class Batch(NamedTuple):
    """Sources that were read together, and the packs their bytes are in."""

    packs: list[bytes]
    deltas: list[Delta]
