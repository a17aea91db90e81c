"""What Preheat itself put into a history, set aside: the agent never made those calls and never said those words.

Histories that begin with our messages are stored by programs like any other. Every reader's sessions go through here, so that
no stage after it counts, judges or learns from them; nothing is dropped. Knows no agent.
"""

from collections.abc import Iterator
from typing import Any

from preheat.model.rendering import PREHEAT_CALL, PREHEAT_SAID
from preheat.model.session import AssistantMessage, Event, Other, ToolCall, ToolResult

SEEDED = "preheat."
"""How the name of an `Other` begins that was set aside."""
_LONGEST = 2 * max(map(len, PREHEAT_SAID))


def set_aside(events: list[Event]) -> tuple[Event, ...]:
    """The events, with our own calls, their results and what we had an assistant say as `Other`s."""
    preheat_places = list(_preheat_indexes(events))
    marked = list(events) if preheat_places else events
    for place in preheat_places:
        marked[place] = _as_other(events[place])
    return tuple(marked)


def _preheat_indexes(events: list[Event]) -> Iterator[int]:
    """Where they stand. Every event that is ever read comes by here."""
    for place, event in enumerate(events):
        if type(event) is ToolCall or type(event) is ToolResult:
            if event.call_id.startswith(PREHEAT_CALL):
                yield place
        elif type(event) is AssistantMessage and len(event.text) <= _LONGEST and _is_preheat_reply(event):
            yield place


def _is_preheat_reply(event: AssistantMessage) -> bool:
    # What a model says costs tokens; programs that note them tell an echo of our words from the words themselves.
    return event.usage is None and event.text.strip() in PREHEAT_SAID


def _as_other(event: Event) -> Other:
    raw: Any = ""
    name = "said"
    if isinstance(event, ToolCall):
        name, raw = "call", {"call_id": event.call_id, "tool": event.tool, "input": event.input}
    elif isinstance(event, ToolResult):
        name, raw = "result", {"call_id": event.call_id, "text": event.text}
    elif isinstance(event, AssistantMessage):
        raw = event.text
    return Other(line=event.line, at=event.at, name=f"{SEEDED}{name}", raw=raw)
