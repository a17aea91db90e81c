"""A session as the strategies see it: what stands of it, and every call with its result and the verdict on it.

Knows no strategy.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from preheat.amounts import counted
from preheat.calls.form import command_form
from preheat.commands import CHECKS, text_of, understand
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
    joined,
    standing,
)

LOOKING = frozenset(["read", "list", "search"])
"""Purposes of shell commands by which an agent only looks around: every model knows how."""

Place = tuple[int, str]
"""A call's line and id: what is left of it after its arguments were cut."""


class Made(NamedTuple):
    """One call that stands, what came back and what came of it."""

    call: ToolCall
    result: ToolResult
    record: CallRecord

    @property
    def worked(self) -> bool:
        return self.record.status in ("ok", "empty")

    @property
    def failed(self) -> bool:
        return self.record.status in FAILURES

    @property
    def form(self) -> str:
        """What stays the same when the same thing is done to something else: the form of a command, or a tool with the names
        of its arguments."""
        text = text_of(self.call.input) if self.call.kind == "shell" else ""
        names = ", ".join(sorted(self.call.input))
        return (command_form(text) if text else "") or f"{self.call.tool}({names})"

    @property
    def checks(self) -> bool:
        """A test, a build or the like."""
        return self.call.kind == "shell" and understand(text_of(self.call.input)).purpose in CHECKS

    @property
    def looks(self) -> bool:
        return self.call.kind == "shell" and understand(text_of(self.call.input)).purpose in LOOKING


class View(NamedTuple):
    """A session to be made shorter. `made` has the calls that stand and came back, without the agent's notes to itself."""

    session: Session
    events: tuple[Event, ...]
    made: tuple[Made, ...]
    references: tuple[str, ...] = ()
    """Paths, addresses and code blocks that the conversation refers to."""


def view(session: Session, records: Sequence[CallRecord], references: Sequence[str] = ()) -> View:
    """What of a session there is to choose from."""
    events = tuple(standing(session))
    held = {id(event) for event in events}
    by_place = {record.seq: record for record in records}
    made = []
    for seq, (call, result) in enumerate(joined(session)):
        record = by_place.get(seq)
        if result is None or record is None or record.bookkeeping or id(call) not in held or id(result) not in held:
            continue
        made.append(Made(call, result, record))
    return View(session, events, tuple(made), tuple(references))


def place_of(call: ToolCall) -> Place:
    return call.line, call.call_id


def said_by_person(event: Event) -> bool:
    """Whether a message says what is wanted: typed by a person, or the task of a run that Preheat started for one."""
    return isinstance(event, UserMessage) and (event.origin == "human" or PREHEAT_RUN in event.text)


def remaining(seen: View, shorter: Session) -> dict[int, str]:
    """By their places in the whole session, the calls that are left of it and the texts of their results."""
    left = {place_of(call): result.text for call, result in joined(shorter) if result is not None}
    return {each.record.seq: left[place_of(each.call)] for each in seen.made if place_of(each.call) in left}


def with_events(session: Session, events: Iterable[Event]) -> Session:
    return msgspec.structs.replace(session, events=tuple(events))


def answered(events: Iterable[Event]) -> list[Event]:
    """Events without calls that never came back, and without results of calls that are not there."""
    listed = list(events)
    came_back = {event.call_id for event in listed if isinstance(event, ToolResult)}
    called = {event.call_id for event in listed if isinstance(event, ToolCall)}
    both = came_back & called
    return [event for event in listed if not isinstance(event, ToolCall | ToolResult) or event.call_id in both]


def left_out(text: str) -> str:
    """A line in the place of what was left out: marked, so that nobody takes it for a tool's or a person's words."""
    return f"{PREHEAT_MARK}left-out: {text}>"


def note(text: str, line: int) -> UserMessage:
    return UserMessage(line=line, text=left_out(text), origin="preheat")


def told_calls(calls: Iterable[ToolCall]) -> str:
    """Calls by their kind, the most frequent first: `14 calls (9 read, 5 shell)`."""
    kinds = Counter(call.kind for call in calls)
    if not kinds:
        return ""
    ordered = sorted(kinds.items(), key=lambda item: (-item[1], item[0]))
    return f"{counted(sum(kinds.values()), 'call')} ({', '.join(f'{number:,} {kind}' for kind, number in ordered)})"
