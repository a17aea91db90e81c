"""Asks whether an agent works as reliably after a compaction as before it.

Knows nothing of where sessions are kept. A boundary is a compaction within a session, or the step from a session to the one
that goes on from it. Two comparisons: everything between the neighbouring boundaries, and, the main one, equal windows of
the last calls before and the first calls after. Windows, because work changes as a session goes on (looking around, changing,
checking), and calls that lie close together are the most alike but for the compaction.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from preheat.model.comparison import (
    COMPARED_CALLS,
    PRESERVED_MARGIN,
    CompactionBoundary,
    CompactionCheck,
    CrossingKind,
    MeasureChange,
)
from preheat.model.profile import CallRecord
from preheat.model.session import Compaction, Session, ToolCall
from preheat.profiles.asking import Ask, find_asks
from preheat.profiles.counts import NO_COUNTS, Counts, count_calls
from preheat.profiles.noninferiority import Pair, measure_changes


class TracedSession(NamedTuple):
    """A session with the records of its calls."""

    key: str
    session: Session
    records: Sequence[CallRecord]


class Sides(NamedTuple):
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
        whole=Sides(_counted(before), _counted(after)) if size else Sides(NO_COUNTS, NO_COUNTS),
    )


def _last(part: _Part, size: int) -> Counts:
    places = part.places[-size:]
    return _counted(_Part(part.records[-size:], places, [ask for ask in part.asks if ask.seq >= places[0]]))


def _first(part: _Part, size: int) -> Counts:
    places = part.places[:size]
    return _counted(_Part(part.records[:size], places, [ask for ask in part.asks if ask.seq <= places[-1]]))


def _counted(part: _Part) -> Counts:
    return count_calls(part.records)._replace(asks=len(part.asks), asked_again=sum(ask.again for ask in part.asks))


def check_boundaries(
    found: Iterable[BoundaryCalls], margin: float = PRESERVED_MARGIN, size: int = COMPARED_CALLS
) -> CompactionCheck:
    """The verdict on some boundaries together, and on each."""
    crossed = list(found)
    window = _together(crossed, margin, lambda each: each.window)
    agents = sorted({each.agent for each in crossed})
    return CompactionCheck(
        margin=margin,
        size=size,
        sessions=len({each.cluster for each in crossed}),
        crossings=len(crossed),
        window=window,
        whole=_together(crossed, margin, lambda each: each.whole),
        agents={
            agent: _together([each for each in crossed if each.agent == agent], margin, lambda each: each.window)
            for agent in agents
            if len(agents) > 1
        },
        verdict=window[0].verdict,
        boundaries=tuple(_boundary(each, margin) for each in crossed),
    )


def _together(
    crossed: Sequence[BoundaryCalls], margin: float, side: Callable[[BoundaryCalls], Sides]
) -> tuple[MeasureChange, ...]:
    clusters: defaultdict[str, list[Pair]] = defaultdict(list)
    for each in crossed:
        clusters[each.cluster].append(side(each))
    return measure_changes(list(clusters.values()), margin)


def _boundary(crossing: BoundaryCalls, margin: float) -> CompactionBoundary:
    window = measure_changes([[crossing.window]], margin)
    return CompactionBoundary(
        session=crossing.session,
        child=crossing.child,
        agent=crossing.agent,
        number=crossing.number,
        how=crossing.how,
        at=crossing.at,
        tokens_before=crossing.tokens_before,
        window=window,
        whole=measure_changes([[crossing.whole]], margin),
        verdict=window[0].verdict,
    )
