"""The beginning and the end of a session as they are; one line for all that lies between. Knows no other strategy."""

from collections.abc import Sequence
from typing import NamedTuple

from preheat.amounts import counted
from preheat.compress.values import Strategy
from preheat.compress.view import View, answered, note, said_by_person, told_calls, with_events
from preheat.model.session import AssistantMessage, Compaction, Event, Session, ToolCall, ToolResult, UserMessage


class Unit(NamedTuple):
    """What cannot be taken apart: a message, or a response with its calls and their results."""

    events: list[Event]

    @property
    def messages(self) -> int:
        results = sum(isinstance(event, ToolResult) for event in self.events)
        return results + any(not isinstance(event, ToolResult) for event in self.events)


def units(events: Sequence[Event]) -> list[Unit]:
    """The conversation in its units; a result belongs to its call wherever it was recorded, even before it."""
    found: list[Unit] = []
    responses: dict[str, Unit] = {}
    results: dict[str, ToolResult] = {}
    for event in events:
        if isinstance(event, ToolResult):
            results.setdefault(event.call_id, event)
    for event in answered(events):
        if isinstance(event, AssistantMessage | ToolCall):
            name = event.response or f"line {event.line}"
            if name not in responses:
                responses[name] = Unit([])
                found.append(responses[name])
            responses[name].events.append(event)
            if isinstance(event, ToolCall):
                responses[name].events.append(results[event.call_id])
        elif isinstance(event, UserMessage | Compaction):
            found.append(Unit([event]))
    return found


def shorten(seen: View, keep: int) -> Session:
    """The first and the last `keep` messages, and a few more where a response would be taken apart."""
    whole = units(seen.events)
    head = _reaching(whole, keep)
    tail = len(whole) - _reaching(whole[::-1], keep)
    if head >= tail:
        return with_events(seen.session, (event for unit in whole for event in unit.events))
    middle = [event for unit in whole[head:tail] for event in unit.events]
    dropped = sum(unit.messages for unit in whole[head:tail])
    persons = sum(said_by_person(event) for event in middle)
    parts = [counted(dropped, "message")]
    if persons:
        parts.append(f"{persons:,} by the person")
    calls = told_calls(event for event in middle if isinstance(event, ToolCall))
    text = "; ".join((*parts, calls) if calls else parts)
    kept = [event for unit in whole[:head] for event in unit.events]
    kept.append(note(f"{text}; the end of the session follows", middle[0].line if middle else 0))
    kept += [event for unit in whole[tail:] for event in unit.events]
    return with_events(seen.session, kept)


def _reaching(found: Sequence[Unit], messages: int) -> int:
    """How many units it takes to have so many messages."""
    total = 0
    for number, unit in enumerate(found):
        if total >= messages:
            return number
        total += unit.messages
    return len(found)


HEADTAIL = Strategy(
    "headtail", 20, "messages at each end", "The first and last messages; the middle is left out.", shorten
)
