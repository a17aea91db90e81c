"""A session as strategies see it (events, finished calls with their outcomes), what a strategy is, and what compressing gives.

Knows no strategy.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec

from preheat.amounts import format_count
from preheat.calls.shell import command_form
from preheat.commands import CHECKS, command_text, understand
from preheat.model.outcome import FAILURES
from preheat.model.profile import CallRecord
from preheat.model.session import (
    PREHEAT_MARK,
    PREHEAT_RUN,
    Event,
    Session,
    ToolCall,
    ToolResult,
    UserMessage,
    pair_calls_with_results,
    surviving_events,
)

LOOKING = frozenset(["read", "list", "search"])
"""Purposes of shell commands that only read, which every model knows how to do."""

_CallKey = tuple[int, str]
"""The line and id of a call, which identify it after its arguments were cut."""


class FinishedCall(NamedTuple):
    """One call with its result and record."""

    call: ToolCall
    result: ToolResult
    record: CallRecord

    @property
    def has_worked(self) -> bool:
        return self.record.status in ("ok", "empty")

    @property
    def has_failed(self) -> bool:
        return self.record.status in FAILURES

    @property
    def form(self) -> str:
        """The form of a command, or a tool with the names of its arguments."""
        text = command_text(self.call.input) if self.call.kind == "shell" else ""
        names = ", ".join(sorted(self.call.input))
        return (command_form(text) if text else "") or f"{self.call.tool}({names})"

    @property
    def is_check(self) -> bool:
        """Whether it is a test, a build, a linter or a type checker."""
        return self.call.kind == "shell" and understand(command_text(self.call.input)).purpose in CHECKS

    @property
    def is_lookup(self) -> bool:
        return self.call.kind == "shell" and understand(command_text(self.call.input)).purpose in LOOKING


class View(NamedTuple):
    """A session to be made shorter. `calls` are those with results, without bookkeeping calls."""

    session: Session
    events: tuple[Event, ...]
    calls: tuple[FinishedCall, ...]
    references: tuple[str, ...] = ()
    """Paths, addresses and code blocks that the conversation refers to."""


def make_view(session: Session, records: Sequence[CallRecord], references: Sequence[str] = ()) -> View:
    """The view of a session."""
    events = tuple(surviving_events(session))
    valid_events = {id(event) for event in events}
    by_place = {record.seq: record for record in records}
    made = []
    for seq, (call, result) in enumerate(pair_calls_with_results(session)):
        record = by_place.get(seq)
        if (
            result is None
            or record is None
            or record.bookkeeping
            or id(call) not in valid_events
            or id(result) not in valid_events
        ):
            continue
        made.append(FinishedCall(call, result, record))
    return View(session, events, tuple(made), tuple(references))


def _key_of(call: ToolCall) -> _CallKey:
    return call.line, call.call_id


def is_from_person(event: Event) -> bool:
    """Whether a message was typed by a person, or is the task of a run that Preheat started."""
    return isinstance(event, UserMessage) and (event.origin == "human" or PREHEAT_RUN in event.text)


def remaining_results(view: View, shorter: Session) -> dict[int, str]:
    """The texts of the results that are left, by the `seq` of their calls in the whole session."""
    left = {_key_of(call): result.text for call, result in pair_calls_with_results(shorter) if result is not None}
    return {each.record.seq: left[_key_of(each.call)] for each in view.calls if _key_of(each.call) in left}


def with_events(session: Session, events: Iterable[Event]) -> Session:
    return msgspec.structs.replace(session, events=tuple(events))


def drop_unpaired(events: Iterable[Event]) -> list[Event]:
    """Events without calls that have no result, and without results that have no call."""
    listed = list(events)
    with_result = {event.call_id for event in listed if isinstance(event, ToolResult)}
    with_call = {event.call_id for event in listed if isinstance(event, ToolCall)}
    both = with_result & with_call
    return [event for event in listed if not isinstance(event, ToolCall | ToolResult) or event.call_id in both]


def format_omission(text: str) -> str:
    """A marked line in the place of text that was left out."""
    return f"{PREHEAT_MARK}left-out: {text}>"


def omission_note(text: str, line: int) -> UserMessage:
    return UserMessage(line=line, text=format_omission(text), origin="preheat")


def describe_calls(calls: Iterable[ToolCall]) -> str:
    """Calls counted by kind, the most frequent first: `14 calls (9 read, 5 shell)`."""
    kinds = Counter(call.kind for call in calls)
    if not kinds:
        return ""
    ordered = sorted(kinds.items(), key=lambda item: (-item[1], item[0]))
    return (
        f"{format_count(sum(kinds.values()), 'call')} ({', '.join(f'{number:,} {kind}' for kind, number in ordered)})"
    )


# What a strategy is, and what compressing a session gives.
MarkerKind: TypeAlias = Literal["forms", "repairs", "instructions", "files", "checks", "references"]
"""The kinds of proficiency markers; `proficiency` describes each and when it is kept."""
MARKER_KINDS: tuple[MarkerKind, ...] = ("forms", "repairs", "instructions", "files", "checks", "references")


class Strategy(NamedTuple):
    """One way to make a session shorter."""

    name: str
    keep: int
    """The default for how much of the end is kept unchanged."""
    measure: str
    """What `keep` counts; empty where it has no meaning."""
    summary: str
    """What it does, in a line."""
    shorten: Callable[[View, int], Session]


class KeptCount(msgspec.Struct, frozen=True, gc=False):
    """How many markers of one kind there were, and how many are left."""

    kept: int
    total: int

    @property
    def share(self) -> float | None:
        return self.kept / self.total if self.total else None


class Compressed(msgspec.Struct, frozen=True, kw_only=True):
    """A shorter history, and what it cost."""

    strategy: str
    keep: int
    session: Session
    """What is left of the session."""
    messages: list[dict[str, Any]]
    """The shorter session, rendered."""
    before: int
    """Estimated tokens of the whole session."""
    after: int
    messages_before: int
    calls: tuple[int, ...]
    """The `CallRecord.seq` of the calls that are left with their results."""
    markers: dict[MarkerKind, KeptCount]

    @property
    def ratio(self) -> float | None:
        """The share of the tokens that is left."""
        return self.after / self.before if self.before else None

    @property
    def all_markers(self) -> KeptCount:
        """The counts of all kinds together."""
        found = self.markers.values()
        return KeptCount(sum(each.kept for each in found), sum(each.total for each in found))
