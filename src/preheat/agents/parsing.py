"""Shared by the parsers: tolerant decoding, the draft of a session that is being read, and messages that Preheat wrote itself.

Messages that Preheat put into a history are stored by programs like any others. Every reader's events pass through
`mark_preheat_events`, which turns these into `Other`, so that no later stage counts, judges or learns from them. Knows no
agent's records.
"""

import json
import os
import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any, ClassVar, Generic, TypeVar

import msgspec

from preheat.agents.reader import Heading
from preheat.limits import current_limits, describe_limit
from preheat.model.context import PREHEAT_CALL, PREHEAT_REPLIES
from preheat.model.session import (
    PREHEAT_MARK,
    PREHEAT_RUN,
    AssistantMessage,
    Event,
    Origin,
    Other,
    Problem,
    Session,
    Starter,
    ToolCall,
    ToolResult,
    UserMessage,
)

JSON_DECODER = msgspec.json.Decoder()
DECODE_ERRORS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What msgspec raises for bytes that it cannot decode; `ValidationError` is a `DecodeError`."""

SENSELESS = (ValueError, OverflowError, TypeError, AttributeError, KeyError, IndexError)
"""What comes of a record that is of the right types and still makes no sense."""

MAX_PROBLEMS = 50
"""Most problems kept of one file: a file of another format would have one on each line."""
_ONE_VALUE = json.JSONDecoder()
_SURROGATE = re.compile("[\ud800-\udfff]")
_LONGEST_FRAME = 2_000


class Draft:
    """A session being read: its heading, and the events and problems since the last `take`."""

    __slots__ = ("events", "heading", "problems")

    def __init__(self, heading: Heading) -> None:
        self.heading = heading
        self.events: list[Event] = []
        self.problems: list[Problem] = []

    def take(self, agent: str, path: str = "") -> Session:
        """Return the session with the new events and problems, and clear these."""
        self._leave_out_deep_values(path)
        if any(isinstance(event, UserMessage) and event.text.startswith(PREHEAT_RUN) for event in self.events):
            self.heading.starter = "preheat"
        session = Session(
            agent=agent,
            events=mark_preheat_events(self.events),
            problems=tuple(self.problems),
            **{name: getattr(self.heading, name) for name in Heading.__struct_fields__},
        )
        self.events.clear()
        self.problems.clear()
        return session

    def _leave_out_deep_values(self, path: str) -> None:
        """Leave out values that are nested so deeply that going through them would exhaust the stack. Runs over every event that
        is ever read."""
        most = 0
        for place, event in enumerate(self.events):
            value: Any
            if type(event) is ToolCall:
                value = event.input
            elif type(event) is Other:
                value = event.raw
            elif type(event) is ToolResult and event.detail:
                value = event.detail
            else:
                continue
            if type(value) is dict:
                for item in value.values():
                    if type(item) is dict or type(item) is list:
                        break
                else:
                    continue
            most = most or current_limits().nesting
            if is_nested_deeper(value, most):
                self.events[place] = _without_value(event)
                why = f"nested more than {most} levels deep: the value is left out; {describe_limit('nesting')}"
                if len(self.problems) < MAX_PROBLEMS:
                    self.problems.append(Problem(why, path, event.line))


def is_nested_deeper(value: object, most: int) -> bool:
    """Whether a value has more than so many levels of objects and lists."""
    level: list[Any] = [value] if type(value) is dict or type(value) is list else []
    for _ in range(most):
        if not level:
            return False
        level = [
            item
            for each in level
            for item in (each.values() if type(each) is dict else each)
            if type(item) is dict or type(item) is list
        ]
    return bool(level)


def _without_value(event: Event) -> Event:
    if isinstance(event, ToolCall):
        return msgspec.structs.replace(event, input={})
    if isinstance(event, ToolResult):
        return msgspec.structs.replace(event, detail={})
    return msgspec.structs.replace(event, raw=None) if isinstance(event, Other) else event


class ParserState(msgspec.Struct):
    """What a parser must remember between two feeds; each parser derives its own state from this."""

    headings: dict[str, Heading] = msgspec.field(default_factory=dict)


S = TypeVar("S", bound=ParserState)
R = TypeVar("R")


class LinesParser(Generic[S, R]):
    """A parser of one JSON record a line.

    Whole blocks are decoded into the record type at native speed; a block with a line that does not fit is read line
    by line. A line of another shape becomes a problem and an `Other`, a line that is no JSON a problem; no other line is lost.
    """

    agent: ClassVar[str]
    record_type: ClassVar[Any]
    state_type: ClassVar[type[ParserState]]

    def __init__(self, path: str) -> None:
        self.path = path
        self.state: S = self.state_type()  # type: ignore[assignment]
        self.drafts: dict[str, Draft] = {}
        self._decoder: msgspec.json.Decoder[R] = msgspec.json.Decoder(self.record_type)
        self._block = b""
        self._place = (1, 0)
        self._value: Any = None
        self._problems_left_out = 0
        self._first = 1

    # Each agent's parser implements this.
    def record(self, record: R, line: int) -> None:
        """Turn one record that fits the type into events."""
        raise NotImplementedError

    # Shared by all of them.
    def feed(self, block: bytes, line: int) -> None:
        self._block, self._first, self._place = block, line, (line, 0)
        count = count_lines(block) + (not block.endswith(b"\n"))
        try:
            records = self._decoder.decode_lines(block)
        except DECODE_ERRORS:
            records = []
        if len(records) == count:
            for offset, record in enumerate(records):
                self._fold_safely(record, line + offset)
            return
        for offset, text in enumerate(whole_lines(block)):
            if text.strip():
                self._read_line(text, line + offset)

    def _read_line(self, text: bytes, line: int) -> None:
        try:
            record = self._decoder.decode(text)
        except DECODE_ERRORS:
            pass
        else:
            self._fold_safely(record, line)
            return
        values, rest = decode_values(text)
        for value in values:
            try:
                record = msgspec.convert(value, self.record_type, strict=False)
            except (msgspec.ValidationError, RecursionError) as error:
                self.add_problem(f"a record of an unexpected shape ({_short_message(error)}); kept as it is", line)
                self.draft().events.append(Other(line=line, name="unreadable", raw=value))
            else:
                self._value = value
                self._fold_safely(record, line)
                self._value = None
        if rest:
            self.add_problem(f"not a JSON record ({rest}); passed over", line)

    def _fold_safely(self, record: R, line: int) -> None:
        # A record can be of the right types and still make no sense (a time in the year 40000, say).
        try:
            self.record(record, line)
        except RecursionError:
            self.add_problem("nested too deeply; passed over", line)
        except SENSELESS as error:
            self.add_problem(f"a record that makes no sense ({_short_message(error)}); passed over", line)

    def raw(self, line: int) -> Any:
        """The record at a line of the current block, untyped, with all its fields."""
        if self._value is not None:
            return self._value
        number, start = self._place if self._place[0] <= line else (self._first, 0)
        for _ in range(line - number):
            start = self._block.index(b"\n", start) + 1
        self._place = (line, start)
        end = self._block.find(b"\n", start)
        try:
            return decode_json(self._block[start : end if end >= 0 else None])
        except (ValueError, RecursionError):
            return None

    def keep_record(self, name: str, line: int, at: float | None = None, key: str = "") -> None:
        """Keep a record that is no event as an `Other`."""
        self.draft(key).events.append(Other(line=line, at=at, name=name, raw=self.raw(line)))

    def add_problem(self, message: str, line: int | None) -> None:
        problems = self.draft().problems
        if len(problems) < MAX_PROBLEMS:
            problems.append(Problem(message, self.path, line))
        else:
            self._problems_left_out += 1

    def draft(self, key: str = "") -> Draft:
        """The draft of the session with this key in the source; the main session's key is empty."""
        draft = self.drafts.get(key)
        if draft is None:
            heading = self.state.headings.setdefault(key, Heading())
            draft = self.drafts[key] = Draft(heading)
        return draft

    def take(self) -> list[Session]:
        for key in self.state.headings:
            self.draft(key)
        if self._problems_left_out:
            self.draft().problems.append(Problem(f"{self._problems_left_out} more lines could not be read", self.path))
            self._problems_left_out = 0
        sessions = [draft.take(self.agent, self.path) for draft in self.drafts.values() if draft.heading.id]
        sessions += [self._problem_session(draft) for draft in self.drafts.values() if draft.problems]
        return sessions

    def _problem_session(self, draft: Draft) -> Session:
        """A session that carries the problems of a file in which no session has begun; its events are kept for later."""
        problems = tuple(draft.problems)
        draft.problems.clear()
        return Session(agent=self.agent, id=os.path.basename(self.path), problems=problems)

    def save(self) -> bytes | None:
        if not any(heading.id for heading in self.state.headings.values()):
            return None  # no session has begun: when the file grows it is read whole
        try:
            return msgspec.msgpack.encode(self.state)
        except OverflowError:  # a number that no format of ours holds: it is read whole again
            return None

    def load(self, state: bytes) -> None:
        self.state = msgspec.msgpack.decode(state, type=self.state_type)  # type: ignore[assignment]
        self.drafts.clear()


def count_lines(block: bytes) -> int:
    """The number of line ends. Lines are long, so finding each is far quicker than counting bytes."""
    count, at = 0, block.find(b"\n")
    while at >= 0:
        count += 1
        at = block.find(b"\n", at + 1)
    return count


def whole_lines(block: bytes) -> list[bytes]:
    """The lines of a block, without an empty last one."""
    lines = block.split(b"\n")
    if not lines[-1]:
        lines.pop()
    return lines


def decode_json(text: bytes) -> Any:
    """Decode JSON tolerantly: invalid UTF-8 and lone surrogates become U+FFFD. Raises ValueError."""
    try:
        return JSON_DECODER.decode(text)
    except DECODE_ERRORS:
        return _scrub(json.loads(text.decode("utf-8", "replace")))


def decode_values(text: bytes) -> tuple[list[Any], str]:
    """The JSON values on a line, and what is wrong with the rest; two programs writing at once leave two records on a line."""
    try:
        return [decode_json(text)], ""
    except RecursionError:
        return [], "nested too deeply"
    except ValueError:
        pass
    decoded, values, at = text.decode("utf-8", "replace").strip(), [], 0
    try:
        while at < len(decoded):
            value, at = _ONE_VALUE.raw_decode(decoded, at)
            values.append(_scrub(value))
    except (ValueError, RecursionError) as error:
        return values, _short_message(error)
    return values, ""


def _scrub(value: Any) -> Any:
    if isinstance(value, str):
        return _SURROGATE.sub("�", value)
    if isinstance(value, dict):
        return {_SURROGATE.sub("�", key): _scrub(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_scrub(item) for item in value]
    return value


def _short_message(error: Exception) -> str:
    return str(error)[:120]


def epoch_seconds(value: object) -> float | None:
    """Seconds since the epoch from ISO text, seconds, milliseconds or a datetime; None for anything else."""
    if isinstance(value, datetime):
        return value.timestamp()
    if isinstance(value, str):
        try:
            return datetime.fromisoformat(value).timestamp()
        except (ValueError, OverflowError):
            return None
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e14:
        return value / 1000 if value > 1e11 else float(value)
    return None


def arguments_of(value: object) -> dict[str, Any]:
    """A call's arguments as a dictionary, from an object, JSON text or plain text."""
    if isinstance(value, str):
        try:
            value = decode_json(value.encode("utf-8", "replace"))
        except (ValueError, RecursionError):
            return {"text": value}
    if isinstance(value, dict):
        return value
    return {} if value is None else {"text": value if isinstance(value, str) else json.dumps(value)}


def frame_of(whole_text: str, text: str) -> tuple[str, str]:
    """What comes before and after `text` in the text that the model saw; empty if `text` is not in it or the rest is long."""
    at = whole_text.find(text)
    if at < 0 or len(whole_text) - len(text) > _LONGEST_FRAME:
        return "", ""
    return whole_text[:at], whole_text[at + len(text) :]


def unattended_starter(project: str) -> Starter:
    """Who started a session without a person: `background` if its project is in a hidden folder, as tools that keep memories or
    write summaries have; worktrees are often in hidden folders too, but are the person's."""
    parts = project.replace("\\", "/").split("/")
    hidden = any(part.startswith(".") and len(part) > 2 for part in parts)
    return "background" if hidden and not any("worktree" in part for part in parts) else "headless"


def origin_of(text: str, injected: bool) -> Origin:
    """Who wrote the text of a user message."""
    if PREHEAT_MARK in text:
        return "preheat"
    return "injected" if injected else "human"


# Messages that Preheat put into a history, turned into `Other` events
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
