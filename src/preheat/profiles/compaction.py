"""Whether an agent works as reliably after a compaction as before it.

Knows nothing of where sessions are kept. A boundary is a compaction within a session, or the step from a session to the one
that continues it. Two comparisons: everything between the neighbouring boundaries, and, the main one, equal windows of the
last calls before and the first calls after. Windows, because work changes as a session goes on (looking around, changing,
checking), and calls that lie close together are the most alike but for the compaction. A question that is asked again after
the boundary counts as lost context.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from preheat.model.comparison import (
    COMPARED_CALLS,
    PRESERVED_MARGIN,
    CompactionBoundary,
    CompactionCheck,
    CrossingKind,
    MeasureChange,
)
from preheat.model.profile import CallRecord
from preheat.model.session import AssistantMessage, Compaction, Session, ToolCall, UserMessage, surviving_events
from preheat.profiles.comparison import NO_COUNTS, Counts, count_calls
from preheat.profiles.noninferiority import Pair, measure_changes

# What was asked twice
ALIKE = 0.7
FEWEST_WORDS = 4
_LONGEST = 4000
"""Characters of a prompt that are looked at: pasted logs say nothing about what is asked."""
_REMEMBERED = 400
"""Asks that a new one is held against, the latest: keeps a session of thousands of prompts quick."""
_WORD = re.compile(r"\w+")
_NAME_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_ASKING = frozenset(["ask", "asks", "question", "questions", "clarify", "clarification"])
_WORKING = frozenset(["read", "edit", "write", "shell", "search", "web", "delegate"])
_SENTENCE_END = re.compile(r"[.!?:](?:\s|$)|\n")
_CLOSING = " \t\r\n*_`)\"'»”"


class Ask(NamedTuple):
    """Something that was asked, and where."""

    sort: Literal["question", "prompt"]
    words: frozenset[str]
    seq: int
    """How many calls came before it."""
    era: int
    again: bool = False
    """It had been asked before."""


def find_asks(session: Session, earlier: Sequence[Ask] = ()) -> tuple[Ask, ...]:
    """What was asked in a session, in order; `earlier` is what was asked in the one that it continues."""
    before = list(earlier)[-_REMEMBERED:]
    found: list[Ask] = []
    for ask in _find_plain_asks(session):
        again = any(ask.sort == other.sort and are_alike(ask.words, other.words) for other in before)
        ask = ask._replace(again=again)
        found.append(ask)
        before = [*before[1 - _REMEMBERED :], ask]
    return tuple(found)


def are_alike(left: frozenset[str], right: frozenset[str]) -> bool:
    """Whether two asks are made of nearly the same words."""
    small, large = sorted((len(left), len(right)))
    if small < ALIKE * large:
        return False
    shared = len(left & right)
    return shared >= ALIKE * (small + large - shared)


def _find_plain_asks(session: Session) -> Iterator[Ask]:
    kept = {id(event) for event in surviving_events(session)}
    seq = era = 0
    last_message: tuple[str, int, int] | None = None  # the assistant's last message, if no call followed
    for event in session.events:
        if isinstance(event, ToolCall):
            last_message = None
            if id(event) in kept and _asks(event):
                for text in _questions(event.input):
                    yield from _ask("question", text, seq, era)
            seq += 1
        elif id(event) not in kept:
            continue
        elif isinstance(event, AssistantMessage):
            last_message = (event.text, seq, era) if event.text.strip() else last_message
        elif isinstance(event, UserMessage) and event.origin == "human":
            if last_message is not None:
                yield from _ask("question", _last_question(last_message[0]), *last_message[1:])
            last_message = None
            yield from _ask("prompt", event.text[:_LONGEST], seq, era)
        elif isinstance(event, Compaction):
            era += 1
    if last_message is not None:
        yield from _ask("question", _last_question(last_message[0]), *last_message[1:])


def _ask(sort: Literal["question", "prompt"], text: str, seq: int, era: int) -> Iterator[Ask]:
    words = frozenset(_WORD.findall(text.lower()))
    if len(words) >= FEWEST_WORDS:
        yield Ask(sort, words, seq, era)


def _asks(call: ToolCall) -> bool:
    if call.kind in _WORKING:
        return False
    return not _ASKING.isdisjoint(word.lower() for word in _NAME_WORD.findall(call.tool[:200]))


def _questions(value: Any, depth: int = 3) -> Iterator[str]:
    """The questions in the arguments of an asking tool: texts under a name that begins with `question`, else any text."""
    if isinstance(value, dict):
        named = [inner for name, inner in value.items() if str(name).startswith("question")]
        for inner in named or ([value["text"]] if "text" in value else list(value.values())[:1]):
            if isinstance(inner, str):
                yield inner[:_LONGEST]
            elif depth:
                yield from _questions(inner, depth - 1)
    elif isinstance(value, list) and depth:
        for inner in value[:20]:
            yield from ([inner[:_LONGEST]] if isinstance(inner, str) else _questions(inner, depth - 1))


def _last_question(text: str) -> str:
    """The last sentence of a message, if it asks."""
    end = text[-_LONGEST:].rstrip(_CLOSING)
    if not end.endswith("?"):
        return ""
    return _SENTENCE_END.split(end[:-1])[-1]


# The calls on both sides of each boundary
class TracedSession(NamedTuple):
    """A session with the records of its calls."""

    key: str
    session: Session
    records: Sequence[CallRecord]


class Sides(NamedTuple):
    """The counts before and after a boundary."""

    before: Counts
    after: Counts


class BoundaryCalls(NamedTuple):
    """One boundary, counted. Small: the sessions themselves can be let go of."""

    cluster: str
    """The key of the first session of the line: calls of one line are not independent."""
    session: str
    child: str | None
    agent: str
    number: int
    how: CrossingKind
    at: float | None
    tokens_before: int | None
    window: Sides
    whole: Sides


class _Part(NamedTuple):
    """What was called and asked between two boundaries; `places` are those of the calls in the whole line."""

    records: list[CallRecord]
    places: list[int]
    asks: list[Ask]

    def plus(self, other: "_Part") -> "_Part":
        return _Part(self.records + other.records, self.places + other.places, self.asks + other.asks)


def find_boundaries(line: Sequence[TracedSession], size: int = COMPARED_CALLS) -> Iterator[BoundaryCalls]:
    """The boundaries of a session and of those that go on from it, the first one first.

    Calls that a session repeats from the one before it count there only. A session that goes on without a compaction
    (it was resumed with all it knew) is more of the same: no boundary.
    """
    known: tuple[Ask, ...] = ()
    before: _Part | None = None
    done: set[str] = set()
    for place, traced in enumerate(line):
        parts = _parts(traced, known, done)
        done.update(event.call_id for event in traced.session.events if isinstance(event, ToolCall))
        known = (*known, *(ask for part in parts for ask in part.asks))
        events = list(enumerate((event for event in traced.session.events if isinstance(event, Compaction)), 1))
        if before is not None:
            if traced.session.relation == "compaction":
                yield _crossing(line, place, before, parts[0], None, size)
            elif len(parts) > 1 and not parts[0].records:
                yield _crossing(line, place, before, parts[1], None, size)
                parts, events = parts[1:], events[1:]
            else:
                parts[0] = before.plus(parts[0])
        for (left, right), event in zip(pairwise(parts), events, strict=True):
            yield _crossing(line, place, left, right, event, size)
        before = parts[-1]


def _parts(traced: TracedSession, known: Sequence[Ask], done: set[str]) -> list[_Part]:
    """A session's own calls (and asks), by era; the agent's notes to itself are left out."""
    start = len(done)
    eras = 1 + sum(isinstance(event, Compaction) for event in traced.session.events)
    parts = [_Part([], [], []) for _ in range(eras)]
    calls = (event for event in traced.session.events if isinstance(event, ToolCall))
    for call, record in zip(calls, traced.records, strict=True):
        if call.call_id not in done and not record.bookkeeping:
            parts[record.era].records.append(record)
            parts[record.era].places.append(start + record.seq)
    for ask in find_asks(traced.session, known):
        parts[ask.era].asks.append(ask._replace(seq=start + ask.seq))
    return parts


def _crossing(
    line: Sequence[TracedSession],
    place: int,
    before: _Part,
    after: _Part,
    within: tuple[int, Compaction] | None,
    size: int,
) -> BoundaryCalls:
    traced = line[place]
    size = min(size, len(before.records), len(after.records))
    into: CrossingKind = "compaction" if traced.session.relation == "compaction" else "continuation"
    return BoundaryCalls(
        cluster=line[0].key,
        session=traced.key if within else line[place - 1].key,
        child=None if within else traced.key,
        agent=traced.session.agent,
        number=within[0] if within else 1,
        how="in place" if within else into,
        at=within[1].at if within else traced.session.started_at,
        tokens_before=within[1].tokens_before if within else None,
        window=Sides(_last(before, size), _first(after, size)) if size else Sides(NO_COUNTS, NO_COUNTS),
        whole=Sides(_count_part(before), _count_part(after)) if size else Sides(NO_COUNTS, NO_COUNTS),
    )


def _last(part: _Part, size: int) -> Counts:
    places = part.places[-size:]
    return _count_part(_Part(part.records[-size:], places, [ask for ask in part.asks if ask.seq >= places[0]]))


def _first(part: _Part, size: int) -> Counts:
    places = part.places[:size]
    return _count_part(_Part(part.records[:size], places, [ask for ask in part.asks if ask.seq <= places[-1]]))


def _count_part(part: _Part) -> Counts:
    return count_calls(part.records)._replace(asks=len(part.asks), asked_again=sum(ask.again for ask in part.asks))


def check_boundaries(
    found: Iterable[BoundaryCalls], margin: float = PRESERVED_MARGIN, size: int = COMPARED_CALLS
) -> CompactionCheck:
    """The verdict on some boundaries together, and on each."""
    boundaries = list(found)
    window = _together(boundaries, margin, lambda each: each.window)
    agents = sorted({each.agent for each in boundaries})
    return CompactionCheck(
        margin=margin,
        size=size,
        sessions=len({each.cluster for each in boundaries}),
        crossings=len(boundaries),
        window=window,
        whole=_together(boundaries, margin, lambda each: each.whole),
        agents={
            agent: _together([each for each in boundaries if each.agent == agent], margin, lambda each: each.window)
            for agent in agents
            if len(agents) > 1
        },
        verdict=window[0].verdict,
        boundaries=tuple(_boundary(each, margin) for each in boundaries),
    )


def _together(
    boundaries: Sequence[BoundaryCalls], margin: float, side: Callable[[BoundaryCalls], Sides]
) -> tuple[MeasureChange, ...]:
    clusters: defaultdict[str, list[Pair]] = defaultdict(list)
    for each in boundaries:
        clusters[each.cluster].append(side(each))
    return measure_changes(list(clusters.values()), margin)


def _boundary(calls: BoundaryCalls, margin: float) -> CompactionBoundary:
    window = measure_changes([[calls.window]], margin)
    return CompactionBoundary(
        session=calls.session,
        child=calls.child,
        agent=calls.agent,
        number=calls.number,
        how=calls.how,
        at=calls.at,
        tokens_before=calls.tokens_before,
        window=window,
        whole=measure_changes([[calls.whole]], margin),
        verdict=window[0].verdict,
    )
