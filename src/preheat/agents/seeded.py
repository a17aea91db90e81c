"""Messages that Preheat put into a history, turned into `Other` events: the agent neither made these calls nor wrote them.

Programs store a history that begins with Preheat's messages like any other. Every reader's sessions pass through here, so that no
later stage counts, judges or learns from these messages. Knows no agent.
"""

from collections.abc import Iterator
from typing import Any

from preheat.model.rendering import PREHEAT_CALL, PREHEAT_REPLIES
from preheat.model.session import AssistantMessage, Event, Other, ToolCall, ToolResult

PREHEAT_RECORD = "preheat."
"""Prefix of the names of these `Other` events."""
_LONGEST = 2 * max(map(len, PREHEAT_REPLIES))


def mark_preheat_events(events: list[Event]) -> tuple[Event, ...]:
    """The events, with Preheat's own calls, their results and its assistant messages turned into `Other`."""
    preheat_places = list(_preheat_indexes(events))
    marked = list(events) if preheat_places else events
    for place in preheat_places:
        marked[place] = _as_other(events[place])
    return tuple(marked)


def _preheat_indexes(events: list[Event]) -> Iterator[int]:
    """Indexes of Preheat's own events. Runs over every event that is ever read."""
    for place, event in enumerate(events):
        if type(event) is ToolCall or type(event) is ToolResult:
            if event.call_id.startswith(PREHEAT_CALL):
                yield place
        elif type(event) is AssistantMessage and len(event.text) <= _LONGEST and _is_preheat_reply(event):
            yield place


def _is_preheat_reply(event: AssistantMessage) -> bool:
    # A model's reply has usage: where a program records it, a model that repeats Preheat's words is told from Preheat.
    return event.usage is None and event.text.strip() in PREHEAT_REPLIES


def _as_other(event: Event) -> Other:
    raw: Any = ""
    name = "said"
    if isinstance(event, ToolCall):
        name, raw = "call", {"call_id": event.call_id, "tool": event.tool, "input": event.input}
    elif isinstance(event, ToolResult):
        name, raw = "result", {"call_id": event.call_id, "text": event.text}
    elif isinstance(event, AssistantMessage):
        raw = event.text
    return Other(line=event.line, at=event.at, name=f"{PREHEAT_RECORD}{name}", raw=raw)
