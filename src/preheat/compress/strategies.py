"""The strategies that make a session shorter: `none`, `mask`, `headtail` and `markers`.

- `mask` replaces older results by one line each. It is the published baseline (Lindenbauer and others 2025, "The Complexity
  Trap"), where it did as well as summaries by a model.
- `headtail` keeps the first and last messages.
- `markers` keeps what the agent learned: every message of the person with the end of the answer before it, the first of each
  repair, the last run of each check, the shortest successful call of every other form, the last calls, the last answer, and a
  line with changed files and other references.

Knows no archive and no agent.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import msgspec

from preheat.amounts import format_count
from preheat.compress.lines import cut_around_error, cut_middle
from preheat.compress.proficiency import Markers, all_text, find_markers, strings_in
from preheat.compress.view import (
    FinishedCall,
    Strategy,
    View,
    describe_calls,
    drop_unpaired,
    format_omission,
    is_from_person,
    omission_note,
    with_events,
)
from preheat.model.profile import CallRecord
from preheat.model.session import AssistantMessage, Compaction, Event, Session, ToolCall, ToolResult, UserMessage


# Leaves a session unchanged, for comparison with the other strategies.
def _keep_everything(view: View, keep: int) -> Session:
    return view.session


NONE = Strategy("none", 0, "", "The history as it is.", _keep_everything)


# Observation masking
def _mask_results(view: View, keep: int) -> Session:
    """The session with all results masked except the last `keep`."""
    records = {made.result.call_id: made.record for made in view.calls}
    results = [event for event in view.events if isinstance(event, ToolResult)]
    older = {id(event) for event in (results[:-keep] if keep else results)}
    events: list[Event] = []
    for event in view.events:
        if isinstance(event, ToolResult) and id(event) in older:
            masked = _placeholder(event, records.get(event.call_id))
            if len(masked) < len(event.text):
                event = msgspec.structs.replace(event, text=masked, frame=("", ""))
        events.append(event)
    return with_events(view.session, drop_unpaired(events))


def _placeholder(result: ToolResult, record: CallRecord | None) -> str:
    """The status and length of a result, on one line."""
    parts: list[str] = ["result" if record is None else record.status]
    code = result.exit_code if record is None or record.exit_code is None else record.exit_code
    if code is not None:
        parts.append(f"exit code {code}")
    lines = result.text.count("\n") + bool(result.text and not result.text.endswith("\n"))
    return format_omission(
        ", ".join((*parts, format_count(lines, "line"), format_count(len(result.text), "character")))
    )


MASK = Strategy("mask", 10, "results", "Results older than the last few become one line each.", _mask_results)


# The beginning and end of a session unchanged, and one line in the place of the middle.
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


def _keep_head_and_tail(view: View, keep: int) -> Session:
    """The first and the last `keep` messages, and a few more so that no response is split."""
    units = _split_units(view.events)
    head = _units_for(units, keep)
    tail = len(units) - _units_for(units[::-1], keep)
    if head >= tail:
        return with_events(view.session, (event for unit in units for event in unit.events))
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
    return with_events(view.session, kept)


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


# Keeps what the agent learned, and leaves out how it got there.
_MESSAGE = 2_000
"""Characters of a person's message, of the last answer and of a summary."""
_BEGINNING_SHARE = 2 / 3
"""The share of a cut message that is kept from its beginning, where a person says what is wanted."""
_ANSWER = 400
_RESULT = 600
_FENCE = "```"
_ARGUMENT = 1_200
"""Characters of an argument; a longer one is the text of a file or a patch."""


def _keep_markers(view: View, keep: int) -> Session:
    """The session by its markers, and its last `keep` calls."""
    markers = find_markers(view)
    chosen = _choose_calls(markers, view.calls) | {made.record.seq for made in (view.calls[-keep:] if keep else ())}
    return with_events(view.session, _Writer(view, chosen).events(markers.files))


def _choose_calls(markers: Markers, made: Iterable[FinishedCall]) -> set[int]:
    """The calls that show the markers, each marker once."""
    chosen = {seq for pairs in markers.repairs.values() for seq in pairs[0]}
    chosen.update(markers.checks.values())
    sizes = {each.record.seq: sum(map(len, strings_in(each.call.input))) for each in made}
    for seqs in markers.forms.values():
        if chosen.isdisjoint(seqs):
            chosen.add(min(seqs, key=lambda seq: (sizes[seq], seq)))
    return chosen


class _Writer:
    """Writes the shorter session in one pass."""

    def __init__(self, view: View, chosen: set[int]) -> None:
        self._view = view
        kept = [made for made in view.calls if made.record.seq in chosen]
        self._calls = {id(made.call): made for made in kept}
        self._results = {id(made.result): made for made in kept}
        self._left_out: list[ToolCall] = []
        self._out: list[Event] = []

    def events(self, files: tuple[str, ...]) -> list[Event]:
        events = self._view.events
        answers = _answers_to_keep(events)
        compactions = [event for event in events if isinstance(event, Compaction) and event.summary]
        last_line = events[-1].line if events else 0
        for event in events:
            if isinstance(event, UserMessage) and is_from_person(event):
                self._add_left_out(event.line)
                self._out.append(
                    msgspec.structs.replace(event, text=cut_middle(event.text, _MESSAGE, _BEGINNING_SHARE))
                )
            elif isinstance(event, ToolCall):
                self._call(event)
            elif isinstance(event, ToolResult) and id(event) in self._results:
                self._out.append(_cut_result(self._results[id(event)]))
            elif isinstance(event, AssistantMessage) and id(event) in answers:
                self._out.append(msgspec.structs.replace(event, text=cut_middle(event.text, answers[id(event)])))
            elif compactions and event is compactions[-1]:
                self._out.append(
                    msgspec.structs.replace(compactions[-1], summary=cut_middle(compactions[-1].summary, _MESSAGE))
                )
        self._add_left_out(last_line)
        self._add_references(files, last_line)
        return self._out

    def _add_references(self, files: tuple[str, ...], line: int) -> None:
        """Add a line with the changed files, and with references that are no longer in the text."""
        text = all_text(with_events(self._view.session, self._out))
        others = [name for name in self._view.references if name not in text and not name.startswith(_FENCE)]
        named = (("files changed", files), ("also referred to", others))
        text = "; ".join(f"{what}: {', '.join(names)}" for what, names in named if names)
        if text:
            self._out.insert(_before_last_answer(self._out), omission_note(text, line))

    def _call(self, event: ToolCall) -> None:
        if id(event) in self._calls:
            self._out.append(msgspec.structs.replace(event, input=_cut_arguments(event.input)))
        else:
            self._left_out.append(event)

    def _add_left_out(self, line: int) -> None:
        """Add a line that counts the calls of a turn that were left out."""
        if self._left_out:
            self._out.append(omission_note(f"{describe_calls(self._left_out)} of this turn", line))
            self._left_out = []


def _answers_to_keep(events: tuple[Event, ...]) -> dict[int, int]:
    """The answers that are kept, with the characters of each: the one before each message of the person, and the last."""
    found: dict[int, int] = {}
    last: AssistantMessage | None = None
    for event in events:
        if isinstance(event, AssistantMessage) and event.text:
            last = event
        elif is_from_person(event) and last is not None:
            found[id(last)] = _ANSWER
            last = None
    if last is not None:
        found[id(last)] = _MESSAGE
    return found


def _before_last_answer(events: list[Event]) -> int:
    return len(events) - bool(events and isinstance(events[-1], AssistantMessage))


def _cut_result(made: FinishedCall) -> ToolResult:
    result = made.result
    text = (
        cut_around_error(result.text, made.record.signature, _RESULT)
        if made.has_failed
        else cut_middle(result.text, _RESULT)
    )
    return msgspec.structs.replace(result, text=text, frame=("", "")) if text != result.text else result


def _cut_arguments(value: Any) -> Any:
    """Arguments with their long texts cut in the middle."""
    if isinstance(value, str):
        return cut_middle(value, _ARGUMENT)
    if isinstance(value, dict):
        return {name: _cut_arguments(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_cut_arguments(each) for each in value]
    return value


MARKERS = Strategy("markers", 5, "calls", "What the agent had learned; how it got there is left out.", _keep_markers)
