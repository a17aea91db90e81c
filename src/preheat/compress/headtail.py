"""The beginning and end of a session unchanged, and one line in the place of the middle. Knows no other strategy."""

from collections.abc import Sequence
from typing import NamedTuple

from preheat.amounts import format_count
from preheat.compress.values import Strategy
from preheat.compress.view import View, describe_calls, drop_unpaired, is_from_person, omission_note, with_events
from preheat.model.session import AssistantMessage, Compaction, Event, Session, ToolCall, ToolResult, UserMessage


class _Unit(NamedTuple):
    """A message, or a response with its calls and their results: kept or dropped as a whole."""

    events: list[Event]

    @property
    def messages(self) -> int:
        results = sum(isinstance(event, ToolResult) for event in self.events)
        return results + any(not isinstance(event, ToolResult) for event in self.events)


def _split_units(events: Sequence[Event]) -> list[_Unit]:
    """The units of a conversation; a result belongs to its call even if it was recorded before it."""
    found: list[_Unit] = []
    responses: dict[str, _Unit] = {}
    results: dict[str, ToolResult] = {}
    for event in events:
        if isinstance(event, ToolResult):
            results.setdefault(event.call_id, event)
    for event in drop_unpaired(events):
        if isinstance(event, AssistantMessage | ToolCall):
            name = event.response or f"line {event.line}"
            if name not in responses:
                responses[name] = _Unit([])
                found.append(responses[name])
            responses[name].events.append(event)
            if isinstance(event, ToolCall):
                responses[name].events.append(results[event.call_id])
        elif isinstance(event, UserMessage | Compaction):
            found.append(_Unit([event]))
    return found


def _keep_head_and_tail(seen: View, keep: int) -> Session:
    """The first and the last `keep` messages, and a few more so that no response is split."""
    units = _split_units(seen.events)
    head = _units_for(units, keep)
    tail = len(units) - _units_for(units[::-1], keep)
    if head >= tail:
        return with_events(seen.session, (event for unit in units for event in unit.events))
    middle = [event for unit in units[head:tail] for event in unit.events]
    dropped = sum(unit.messages for unit in units[head:tail])
    persons = sum(is_from_person(event) for event in middle)
    parts = [format_count(dropped, "message")]
    if persons:
        parts.append(f"{persons:,} by the person")
    calls = describe_calls(event for event in middle if isinstance(event, ToolCall))
    text = "; ".join((*parts, calls) if calls else parts)
    kept = [event for unit in units[:head] for event in unit.events]
    kept.append(omission_note(f"{text}; the end of the session follows", middle[0].line if middle else 0))
    kept += [event for unit in units[tail:] for event in unit.events]
    return with_events(seen.session, kept)


def _units_for(found: Sequence[_Unit], messages: int) -> int:
    """How many units have so many messages."""
    total = 0
    for number, unit in enumerate(found):
        if total >= messages:
            return number
        total += unit.messages
    return len(found)


HEADTAIL = Strategy(
    "headtail", 20, "messages at each end", "The first and last messages; the middle is left out.", _keep_head_and_tail
)
