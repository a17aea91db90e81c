"""Keeps what the agent learned, and leaves out how it got there.

Kept: every message of the person, with the end of the answer before it; the first of each repair (the mistake, its error, and the
call that repaired it); the last run of each check; the shortest successful call of every other form; the last few calls; the last
answer; a line with changed files and other references. Results are cut. One line per turn counts the calls left out. Knows no
other strategy.
"""

from collections.abc import Iterable
from typing import Any

import msgspec

from preheat.compress.lines import cut_around_error, cut_middle
from preheat.compress.measure import Markers, all_text, find_markers, strings_in
from preheat.compress.values import Strategy
from preheat.compress.view import FinishedCall, View, describe_calls, is_from_person, omission_note, with_events
from preheat.model.session import AssistantMessage, Compaction, Event, Session, ToolCall, ToolResult, UserMessage

_MESSAGE = 2_000
"""Characters of a person's message, of the last answer and of a summary."""
_BEGINNING_SHARE = 2 / 3
"""The share of a cut message that is kept from its beginning, where a person says what is wanted."""
_ANSWER = 400
_RESULT = 600
_FENCE = "```"
_ARGUMENT = 1_200
"""Characters of an argument; a longer one is the text of a file or a patch."""


def _keep_markers(seen: View, keep: int) -> Session:
    """The session by its markers, and its last `keep` calls."""
    markers = find_markers(seen)
    chosen = _choose_calls(markers, seen.calls) | {made.record.seq for made in (seen.calls[-keep:] if keep else ())}
    return with_events(seen.session, _Writer(seen, chosen).events(markers.files))


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

    def __init__(self, seen: View, chosen: set[int]) -> None:
        self._seen = seen
        kept = [made for made in seen.calls if made.record.seq in chosen]
        self._calls = {id(made.call): made for made in kept}
        self._results = {id(made.result): made for made in kept}
        self._left_out: list[ToolCall] = []
        self._out: list[Event] = []

    def events(self, files: tuple[str, ...]) -> list[Event]:
        events = self._seen.events
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
        text = all_text(with_events(self._seen.session, self._out))
        others = [name for name in self._seen.references if name not in text and not name.startswith(_FENCE)]
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
