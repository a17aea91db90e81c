"""Puts each judged call in its place: when in the session it came, what it cost, whether it was repeated or recovered from.

Knows nothing of how a call was judged, nor of what is made of the records.
"""

from typing import Any, NamedTuple

import msgspec

from preheat.calls.files import changed_files, file_names_in, file_of
from preheat.calls.intent import find_recoveries, is_bookkeeping
from preheat.calls.shell import read_shell
from preheat.commands import command_text
from preheat.model.outcome import FAILURES, Outcome
from preheat.model.profile import CallRecord
from preheat.model.session import AssistantMessage, Compaction, Session, ToolCall, ToolResult, UserMessage

LONGEST_LOSS = 600.0
"""Seconds that one failure can cost: a longer wait was for a person, or for the night to pass."""
CHARACTERS_PER_TOKEN = 4
_SIBLINGS = 64
"""The calls of one response stand so near to each other."""
_CHANGING = frozenset(["edit", "write"])
_SHORT = 200
"""Characters of an argument that is cheaper to read than to tell apart otherwise."""
_MOST_WRITES = 200
"""So far a memory looks back: the time for a session stays in proportion to its length."""


class _Survey(NamedTuple):
    """What a pass over the events gives: every call with its place, and what the calls are to be joined with."""

    calls: list[ToolCall]
    places: list[tuple[int, int, float | None]]
    """Of each call: its message, its era, and when the model last got something to answer."""
    results: dict[str, ToolResult]
    output: dict[str, int]
    """Output tokens of each response."""


def _survey(session: Session) -> _Survey:
    found = _Survey([], [], {}, {})
    calls, places, results, output = found
    message = era = 0
    input_at: float | None = None
    for event in session.events:
        if isinstance(event, ToolCall):
            message += 1
            calls.append(event)
            places.append((message, era, input_at))
        elif isinstance(event, ToolResult):
            message += 1
            if event.at is not None:
                input_at = event.at
            results.setdefault(event.call_id, event)
        elif isinstance(event, AssistantMessage):
            if event.text:
                message += 1
            if event.usage is not None:
                output[event.response] = event.usage.output
        elif isinstance(event, UserMessage):
            if event.origin == "human":
                message += 1
            if event.at is not None:
                input_at = event.at
        elif isinstance(event, Compaction):
            era += 1
    return found


class _Memory:
    """What has been called, read and written so far, to know a repetition when it comes.

    A file counts as written when one of its name was, wherever, and after very many writes anything does: a repetition that
    is none would be worse than a missed one.
    """

    def __init__(self) -> None:
        self._keys: set[Any] = set()
        self._called: dict[tuple[str, int], Any] = {}
        self._read: dict[Any, int] = {}
        self._writes: list[tuple[int, str]] = []
        self._swept = -1

    def was_called(self, key: Any) -> bool:
        """Whether this was called before; notes it."""
        before = len(self._keys)
        self._keys.add(key)
        return len(self._keys) == before

    def is_repeated(self, tool: str, arguments: dict[str, Any]) -> bool:
        """The same for arguments of any size. Most have an outline of their own; what shares one is compared whole."""
        place = (tool, _outline(arguments))
        alike = self._called.get(place)
        if alike is None:
            self._called[place] = arguments
            return False
        if type(alike) is dict:
            alike = self._called[place] = {_encode_arguments(alike)}
        before = len(alike)
        alike.add(_encode_arguments(arguments))
        return len(alike) == before

    def reread(self, key: Any, text: str, seq: int, happened: bool) -> bool:
        """Whether the same was read before and not written since; notes the read if it gave something. `text` holds the
        names of the files."""
        before = self._read.get(key)
        if happened:
            self._read[key] = seq
        if before is None or before < self._swept:
            return False
        names = file_names_in(text)
        writes = self._writes
        for back in range(1, min(len(writes), _MOST_WRITES) + 1):
            when, written = writes[-back]
            if when < before:
                return True
            if any(name in written for name in names):
                return False
        return len(writes) <= _MOST_WRITES

    def wrote(self, text: str, seq: int) -> None:
        """The files that `text` names were written."""
        self._writes.append((seq, text))

    def swept(self, seq: int) -> None:
        """Any file may have been written."""
        self._swept = seq


class _Loss(NamedTuple):
    seconds: float
    tokens: int
    until: float


def trace(session: Session, outcomes: tuple[Outcome, ...]) -> tuple[CallRecord, ...]:
    """A record of every call, in their order; `outcomes` has one verdict for each."""
    survey = _survey(session)
    recovered = find_recoveries(survey.calls, outcomes)
    memory = _Memory()
    results = survey.results
    lost_until = float("-inf")
    records = []
    for seq, (call, place, outcome) in enumerate(zip(survey.calls, survey.places, outcomes, strict=True)):
        result = results.get(call.call_id)
        status, cause = outcome.status, outcome.cause
        seconds = _seconds(call, result)
        lost_seconds, lost_tokens = 0.0, 0
        failed = status in FAILURES
        if failed and cause != "finding":
            lost_seconds, lost_tokens, lost_until = _loss(survey, seq, result, seconds, lost_until)
        activity, repeated, reread = _compare(call, memory, seq, not failed and status != "denied")
        records.append(
            CallRecord(
                seq, call.tool, call.kind, activity, place[0], place[1], is_bookkeeping(call.tool, call.kind),
                status, outcome.rung, outcome.exit_code, outcome.signature, cause, outcome.confidence,
                repeated, reread, seconds, lost_seconds, lost_tokens, recovered.get(seq),
            )
        )  # fmt: skip
    return tuple(records)


def _seconds(call: ToolCall, result: ToolResult | None) -> float | None:
    if result is None:
        return None
    if result.seconds is not None:
        return result.seconds if result.seconds >= 0 else None
    if result.at is None or call.at is None or not result.at >= call.at:
        return None
    return result.at - call.at


def _loss(survey: _Survey, seq: int, result: ToolResult | None, seconds: float | None, lost_until: float) -> _Loss:
    """What a failure cost. Calls that ran side by side share their time: no second is lost twice."""
    call, input_at = survey.calls[seq], survey.places[seq][2]
    lost = seconds or 0.0
    if result is not None and result.at is not None:
        start = max(input_at if input_at is not None else result.at - lost, lost_until)
        lost, lost_until = result.at - start, max(result.at, lost_until)
    size = 0 if result is None else len(result.text) + len(result.frame[0]) + len(result.frame[1])
    share = survey.output.get(call.response, 0) if call.response else 0
    if share:
        near = survey.calls[max(0, seq - _SIBLINGS) : seq + _SIBLINGS]
        share //= [each.response for each in near].count(call.response)
    lost = min(lost, LONGEST_LOSS) if lost > 0 else 0.0
    return _Loss(lost, max(share, 0) + size // CHARACTERS_PER_TOKEN, lost_until)


def _compare(call: ToolCall, memory: _Memory, seq: int, happened: bool) -> tuple[str, bool, bool]:
    """The call's activity, whether it was made before, and whether it read what was known."""
    kind = call.kind
    if kind == "shell":
        text = command_text(call.input)
        if text:
            return _compare_shell(call, text, memory, seq, happened)
    if kind == "read":
        key = (call.tool, _encode_arguments(call.input))
        path = file_of(call)
        return kind, memory.was_called(key), bool(path) and memory.reread(key, path, seq, happened)
    if kind in _CHANGING:
        memory.wrote(changed_files(call), seq)
    return kind, memory.is_repeated(call.tool, call.input), False


def _compare_shell(call: ToolCall, text: str, memory: _Memory, seq: int, happened: bool) -> tuple[str, bool, bool]:
    """Compares shell calls by their text: a description or a time limit does not make a call another one."""
    known = read_shell(text)
    arguments = call.input
    folder = arguments.get("workdir") or arguments.get("cwd")
    key = (call.tool, text, folder if type(folder) is str else None)
    repeated = memory.was_called(key)
    if known.writes:
        memory.wrote(text, seq)
    if known.sweeps:
        memory.swept(seq)
    reread = known.reads and memory.reread(key, text, seq, happened)
    return known.activity, repeated, reread


def _outline(arguments: dict[str, Any]) -> int:
    """A cheap hash of arguments: equal for equal arguments in any order, rarely equal for others, without reading long texts."""
    outline = 0
    for value in arguments.values():
        if type(value) is str:
            outline += hash(value) if len(value) < _SHORT else len(value)
    return outline


def _encode_arguments(arguments: dict[str, Any]) -> Any:
    try:
        return msgspec.json.encode(arguments, order="deterministic")
    except (TypeError, ValueError, RecursionError):  # half a surrogate pair, a key that is no text
        return repr(arguments)
