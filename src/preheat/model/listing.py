"""Sessions as people see them: in lists, as search hits, as transcripts, as exported files. Frozen values.

Knows nothing of how the archive is asked.
"""

from typing import Literal, NamedTuple, TypeAlias

import msgspec

from preheat.model.outcome import FAILURES, Cause, Status
from preheat.model.session import Session


class SessionSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A session as the lists show it."""

    key: str
    """Agent and id: unique in the archive."""
    agent: str
    session: str
    """The agent's id of the session."""
    version: str
    """Version of the agent's program."""
    model: str
    project: str
    """The folder in which the session ran."""
    branch: str
    parent: str | None
    """The id of the session that this one came out of, of the same agent."""
    relation: str | None
    """How the session came out of its parent, as in `Session.relation`."""
    started_at: float | None
    ended_at: float | None
    starter: str
    """Who started the session, as in `Session.starter`."""
    title: str
    opening: str
    """The beginning of the first prompt."""
    events: int
    prompts: int
    messages: int
    """Prompts, texts of the model, calls and results."""
    calls: int
    errors: int
    """Calls that failed."""
    compactions: int
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int


class SessionFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which sessions to choose: every condition that is set must hold. Texts match anywhere, ignoring case."""

    agent: str | None = None
    project: str | None = None
    """A part of the folder's path."""
    project_key: str = ""
    """The key of a project, whose sessions are chosen whatever their folder is called."""
    model: str | None = None
    since: float | None = None
    """Only sessions that ended at this time or later, in seconds since the epoch."""
    until: float | None = None
    """Only sessions that began at this time or earlier, in seconds since the epoch."""
    min_messages: int | None = None
    max_messages: int | None = None
    subagents: bool = True
    """Whether subagents' sessions are chosen too."""


class SearchHit(msgspec.Struct, frozen=True, kw_only=True):
    """A passage that a search found, with its session."""

    session: SessionSummary
    line: int
    """Line of the passage in the session's source."""
    kind: str
    """`human`, `assistant` or `command`."""
    text: str


class ForgetPlan(msgspec.Struct, frozen=True):
    """What `forget` will delete."""

    sessions: list[SessionSummary]
    files: list[str]
    """The agents' own files with these sessions, which stay."""
    copies: list[SessionSummary]
    """Continuations and forks of these sessions, which may repeat parts of them and stay."""


class AgentTotals(msgspec.Struct, frozen=True, kw_only=True):
    """What the archive holds of one agent."""

    agent: str
    sources: int
    """Files, and sessions inside databases, that were read."""
    sessions: int
    calls: int
    messages: int
    problems: int
    """Lines that could not be read."""
    redactions: int
    """Secrets that were redacted."""
    source_bytes: int
    """Size of the sources before compression."""
    first: float | None
    """When the earliest session began, in seconds since the epoch."""
    last: float | None
    """When the latest session ended, in seconds since the epoch."""


# Transcripts.
class CallLine(msgspec.Struct, frozen=True, gc=False):
    """One call on one line."""

    call_id: str
    tool: str
    summary: str
    """The call's main argument."""
    status: Status
    cause: Cause | None
    exit_code: int | None
    bookkeeping: bool
    """The call is bookkeeping of the agent: counted in no rate."""
    copied: bool
    """The call was copied from another session and counts there."""

    @property
    def is_failure(self) -> bool:
        """Whether it counts as a failure of this session."""
        return self.status in FAILURES and not self.bookkeeping and not self.copied


class Transcript(msgspec.Struct, frozen=True):
    """A session, and a line for each of its calls, in their order."""

    session: Session
    calls: tuple[CallLine, ...]

    @property
    def failed_calls(self) -> int:
        """How many of its own calls failed."""
        return sum(call.is_failure for call in self.calls)

    @property
    def copied_calls(self) -> int:
        """How many of its calls were copied from another session."""
        return sum(call.copied for call in self.calls)


# Exports for other programs.
ExportForm: TypeAlias = Literal["atif", "jsonl", "openai", "raw", "markdown", "html"]

EXPORT_SUFFIXES: dict[ExportForm, str] = {
    "atif": ".json", "jsonl": ".jsonl", "openai": ".chat.json", "raw": ".raw", "markdown": ".md", "html": ".html",
}  # fmt: skip
"""The suffix of its files, by format."""


class ExportedFile(NamedTuple):
    """A session that was written to a file."""

    session: str
    path: str
    bytes: int


class ExportResult(NamedTuple):
    """The files of an export, and the sessions that were not written."""

    files: list[ExportedFile]
    left_out: list[str]
    """Why a session was not written, for each such session."""


# Shortened histories.
COMPRESSION_STRATEGIES = ("none", "mask", "headtail", "markers")
"""Names of the strategies that shorten a history, from the one that keeps most of the text to the one that chooses most."""
