"""The canonical session: what every agent's transcript becomes.

Knows nothing of any agent, of files or of the archive. Events are in the order in which they were recorded; that list only
ever grows, so a transcript read in pieces gives the same events as one read whole.
"""

from collections.abc import Iterator
from hashlib import blake2b
from typing import Any, Literal, TypeAlias

import msgspec

ToolKind: TypeAlias = Literal["read", "edit", "write", "shell", "search", "web", "plan", "delegate", "other"]
"""What a tool is for, whatever its agent calls it."""

Relation: TypeAlias = Literal["subagent", "fork", "continuation", "compaction"]
"""How a session came out of its parent."""

Starter: TypeAlias = Literal["human", "headless", "background", "preheat", "unknown"]
"""Who started a session; `background`: a tool started it for its own purposes."""

Origin: TypeAlias = Literal["human", "injected", "preheat"]
"""Who wrote a user message: a person, a program, or Preheat."""

LATE_ENDING = "late_ending"
"""The name of an `Other` event with the late ending of a call whose result said that it was still running: `raw` has its
`call_id` and, where known, its `exit_code` and `told_by`, the id of the call whose result has the rest of its output."""

CONTEXT_WINDOW = "context_window"
"""The name of an `Other` event with the size of the model's context window from there on: `raw` is the number of tokens."""

PREHEAT_MARK = "<preheat-"
"""Every text that Preheat gives a model begins with this, so that Preheat never learns from its own texts."""

PREHEAT_RUN = "<preheat-run"
"""The beginning of a prompt in a session that Preheat itself starts."""


class Usage(msgspec.Struct, frozen=True, gc=False):
    """Tokens. `input` excludes what came from the cache; `output` includes `reasoning`, and `cache_write` the `cache_write_hour`
    that are kept for an hour."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0
    cache_write_hour: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            self.reasoning + other.reasoning,
            self.cache_write_hour + other.cache_write_hour,
        )

    @property
    def total(self) -> int:
        return self.input + self.output + self.cache_read + self.cache_write


class Problem(msgspec.Struct, frozen=True, gc=False):
    """Something in a source that could not be read, and where."""

    message: str
    file: str = ""
    line: int | None = None

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place}: {self.message}" if place else self.message


class _Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    line: int
    """Line (or row, or message) of the source from which the event was read, from 1."""
    at: float | None = None
    """When it happened, in seconds since the epoch."""


class UserMessage(_Event, frozen=True, kw_only=True, tag="user"):
    """A message to the model that is no result of a call."""

    text: str
    origin: Origin = "human"
    images: int = 0
    """How many images it has."""


class AssistantMessage(_Event, frozen=True, kw_only=True, tag="assistant"):
    """A text of one model response."""

    text: str
    response: str = ""
    """The id of the response. A response may give several texts; its usage is the last one stated."""
    model: str = ""
    usage: Usage | None = None


class Reasoning(_Event, frozen=True, kw_only=True, tag="reasoning"):
    """Reasoning of the model before its text or its calls."""

    text: str
    """Empty where the agent keeps it encrypted."""
    response: str = ""
    """The id of the response that it belongs to."""


class ToolCall(_Event, frozen=True, kw_only=True, tag="call"):
    """One call of a tool by the model."""

    call_id: str
    tool: str
    """The agent's name of the tool."""
    kind: ToolKind
    input: dict[str, Any]
    """The arguments; those that are no JSON object are under the key `text`."""
    response: str = ""
    """The id of the response that made the call."""
    script: str = ""
    """The tool that ran the script in which the call stands; empty where the model made the call itself. The calls of a script
    that cannot be told apart are one call, with all of its commands."""


class ToolResult(_Event, frozen=True, kw_only=True, tag="result"):
    """The result of a call as the agent's program recorded it, not judged."""

    call_id: str
    text: str
    is_error: bool | None = None
    """The program's own error flag; None where it has none."""
    exit_code: int | None = None
    seconds: float | None = None
    """How long the call ran, where the program recorded it."""
    detail: dict[str, Any] = {}
    """Further fields that a judge can use (small; never a copy of the text)."""
    frame: tuple[str, str] = ("", "")
    """What the program put before and after `text` for the model (an exit code, tags), where the reader removed it."""

    @property
    def model_text(self) -> str:
        """The result as the model got it."""
        return f"{self.frame[0]}{self.text}{self.frame[1]}"


class Compaction(_Event, frozen=True, kw_only=True, tag="compaction"):
    """The conversation so far was replaced by a summary."""

    trigger: str = ""
    """What caused it, in the agent's own word: `auto`, `manual`."""
    summary: str = ""
    tokens_before: int | None = None
    """Tokens in the context before, where recorded."""


class Spawn(_Event, frozen=True, kw_only=True, tag="spawn"):
    """A child session was started."""

    session: str
    """The id of the child session."""
    call_id: str = ""
    """The id of the call that started it; empty where that is not known."""


class Rewind(_Event, frozen=True, kw_only=True, tag="rewind"):
    """The person (or a retry) went back in the conversation."""

    after: int
    """Earlier events with a line above this one are undone."""


class Other(_Event, frozen=True, kw_only=True, tag="other"):
    """A record of any other kind, kept whole."""

    name: str
    """The agent's name of the record, or one of ours (`LATE_ENDING`, `CONTEXT_WINDOW`)."""
    raw: Any


Event: TypeAlias = (
    UserMessage | AssistantMessage | Reasoning | ToolCall | ToolResult | Compaction | Spawn | Rewind | Other
)


class Session(msgspec.Struct, frozen=True, kw_only=True):
    """One conversation of one agent. Read in pieces, each piece carries the same heading and its own events."""

    agent: str
    id: str
    """The agent's id of the session."""
    version: str = ""
    """Version of the agent's program."""
    model: str = ""
    project: str = ""
    """The folder in which the agent worked."""
    branch: str = ""
    repository: str = ""
    """The remote of the repository in that folder, where the agent's program recorded it: `host/owner/name`."""
    commit: str = ""
    """The commit that was checked out at the start, where recorded."""
    parent: str | None = None
    """The id of the session that this one came out of, of the same agent."""
    relation: Relation | None = None
    started_at: float | None = None
    ended_at: float | None = None
    starter: Starter = "unknown"
    title: str = ""
    reported: Usage | None = None
    """The agent's own token totals, where it states them."""
    events: tuple[Event, ...] = ()
    problems: tuple[Problem, ...] = ()
    """What could not be read in the source."""


def sum_usage(session: Session) -> Usage:
    """The tokens of a session: each response once, by the last usage stated for it."""
    last: dict[str, Usage] = {}
    for event in session.events:
        if isinstance(event, AssistantMessage) and event.usage is not None:
            last[event.response or f"line {event.line}"] = event.usage
    return sum(last.values(), Usage())


def surviving_events(session: Session) -> list[Event]:
    """The events that no later `Rewind` has undone."""
    if not any(type(event) is Rewind for event in session.events):
        return list(session.events)
    kept: list[Event] = []
    for event in session.events:
        if isinstance(event, Rewind):
            while kept and kept[-1].line > event.after:
                kept.pop()
        else:
            kept.append(event)
    return kept


def pair_calls_with_results(session: Session) -> Iterator[tuple[ToolCall, ToolResult | None]]:
    """Every call with its result, matched by call id."""
    results: dict[str, ToolResult] = {}
    for event in session.events:
        if isinstance(event, ToolResult):
            results.setdefault(event.call_id, event)
    for event in session.events:
        if isinstance(event, ToolCall):
            yield event, results.get(event.call_id)


def number_of_id(name: str) -> int:
    """A hash of a long id as a 64-bit number, which takes less space where it is stored."""
    return int.from_bytes(blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big", signed=True)
