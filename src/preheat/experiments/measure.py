"""Numbers of sessions for a comparison: one unit for each line of sessions that a lot was drawn for. Pure.

Intention to treat: whoever was assigned counts in that arm, whatever was delivered. What cannot be measured is counted and
named, never dropped in silence.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from preheat.model.experiment import Assignment, MetricName, Unit, Went

Shares: TypeAlias = tuple[tuple[str, float], ...]
_GOES_ON = frozenset(["fork", "continuation", "compaction"])
GOING_ON = 1800.0
"""Seconds since its last event within which a session may still go on."""


class Line(NamedTuple):
    """All sessions that came out of one that a lot was drawn for."""

    drawn: Assignment
    sessions: tuple[Went, ...]
    """In time order; none: the archive has nothing of it."""

    @property
    def judged(self) -> bool:
        return any(each.judged for each in self.sessions)


class Measured(NamedTuple):
    """What there is to compare."""

    lines: list[Line]
    """In the order in which the lots were drawn."""
    unassigned: int
    """Sessions whose start was missed."""
    lost: int
    """Sessions that began during the trial, of its agents and projects, of which no lot was ever written down."""
    earlier: dict[tuple[str, str], tuple[Went, ...]]
    """By agent and project: sessions from before the trial."""
    since: float
    now: float
    redrawn: int = 0
    """Sessions that drew a lot of their own though they came out of one that had: they count with that one."""

    @property
    def missing(self) -> Counter[str]:
        """By arm: of how many lines the archive has nothing."""
        return Counter(line.drawn.arm for line in self.lines if not line.sessions)

    @property
    def unjudged(self) -> Counter[str]:
        return Counter(line.drawn.arm for line in self.lines if line.sessions and not line.judged)

    @property
    def open(self) -> Counter[str]:
        """Still going on."""
        return Counter(
            line.drawn.arm
            for line in self.lines
            if any(self.now - (each.ended_at or 0.0) < GOING_ON for each in line.sessions)
        )


def measured(
    assignments: Sequence[Assignment],
    went: Iterable[Went],
    now: float,
    since: float = 0.0,
    until: float | None = None,
    elsewhere: Iterable[str] = (),
) -> Measured:
    """The lines of sessions that lots were drawn for, and what is to be said of the rest. `since` and `until`: when the trial
    began and ended, unless that is when its first lot was drawn and now; `elsewhere`: sessions of other trials."""
    known = {each.session: each for each in went}
    since = since or min((each.at for each in assignments), default=now)
    drawn = [each for each in assignments if each.arm != "unassigned"]
    own = {each.session: each.root for each in drawn}
    of = _roots(known, own)
    roots = {each.root: each for each in reversed(drawn) if of[each.session] == each.root}
    redrawn = sum(of[session] != root for session, root in own.items())
    inside: defaultdict[str, list[Went]] = defaultdict(list)
    for session, root in of.items():
        if session in known:
            inside[root].append(known[session])
    lines = [
        Line(each, tuple(sorted(inside[root], key=lambda one: (one.started_at or 0.0, one.session))))
        for root, each in sorted(roots.items(), key=lambda item: (item[1].at, item[0]))
    ]
    scope = {(each.agent, each.project) for each in assignments}
    told = {each.session for each in assignments} | of.keys()
    others = told.union(elsewhere)
    end = now if until is None else until
    lost = [each for each in known.values() if each.session not in others and _was_missed(each, scope, since, end)]
    return Measured(
        lines,
        sum(each.arm == "unassigned" for each in assignments),
        len(lost),
        _earlier(known.values(), told, since),
        since,
        now,
        redrawn,
    )


def _was_missed(each: Went, scope: set[tuple[str, str]], since: float, until: float) -> bool:
    return (each.agent, each.project) in scope and since < (each.started_at or 0.0) < until and each.calls > 0


def _roots(known: Mapping[str, Went], drawn: Mapping[str, str]) -> dict[str, str]:
    """By session, the one that its line began with. A fork or a continuation whose program did not say so at its start drew a
    lot of its own: it counts with the session that it came out of, whose context it has before it."""
    found: dict[str, str] = {}
    for session in {**drawn, **dict.fromkeys(known, "")}:
        path = [session]
        while (
            (each := known.get(path[-1])) is not None and each.relation in _GOES_ON and each.parent not in (*path, "")
        ):
            path.append(each.parent)
        root = next((drawn[one] for one in reversed(path) if one in drawn), "")
        if root:
            found[session] = root
    return found


def _earlier(went: Iterable[Went], told: Iterable[str], since: float) -> dict[tuple[str, str], tuple[Went, ...]]:
    inside = frozenset(told)
    found: defaultdict[tuple[str, str], list[Went]] = defaultdict(list)
    for each in went:
        if each.session not in inside and each.ended_at is not None and each.ended_at < since:
            found[each.agent, each.project].append(each)
    return {key: tuple(some) for key, some in found.items()}


# Metrics.
class Ratio(NamedTuple):
    """A number over another; nothing to count where that is 0."""

    above: float
    below: float


def _rate(sessions: Sequence[Went], count: Callable[[Went], int]) -> Ratio:
    return Ratio(sum(count(each) for each in sessions), sum(each.calls for each in sessions))


def _last(sessions: Sequence[Went], told: Callable[[Went], bool | None]) -> Ratio:
    answers = [answer for each in sessions if (answer := told(each)) is not None]
    return Ratio(float(answers[-1]), 1.0) if answers else Ratio(0.0, 0.0)


def _sum(values: Iterable[float]) -> Ratio:
    """What a transcript does not say stands there as 0: nothing to count, and not a session that took no time or tokens."""
    total = sum(values)
    return Ratio(total, 1.0) if total else Ratio(0.0, 0.0)


def _seconds(each: Went) -> float:
    return max(0.0, each.ended_at - each.started_at) if each.started_at and each.ended_at else 0.0


_METRICS: dict[MetricName, Callable[[Sequence[Went]], Ratio]] = {
    "mistakes": lambda some: _rate(some, lambda each: each.mistakes),
    "errors": lambda some: _rate(some, lambda each: each.errors),
    "success": lambda some: _last(some, lambda each: each.passed),
    "seconds": lambda some: _sum(map(_seconds, some)),
    "tokens": lambda some: _sum(each.tokens for each in some),
    "cost": lambda some: _sum(each.cost for each in some),
    "corrections": lambda some: Ratio(sum(each.corrections for each in some), 1.0),
    "rating": lambda some: _last(some, lambda each: each.rating),
}


def ratio_of(metric: MetricName, sessions: Sequence[Went]) -> Ratio:
    """A metric over some sessions taken together."""
    return _METRICS[metric](sessions)


def units(metric: MetricName, found: Measured) -> list[Unit]:
    """The lines that the archive has, in a metric. Only what was drawn under the same shares is alike: they are strata, with
    agent and project."""
    epochs = epochs_of(found)
    earlier = {stratum: _before(metric, sessions) for stratum, sessions in found.earlier.items()}
    made = []
    for line in found.lines:
        if not line.judged:
            continue
        above, below = ratio_of(metric, line.sessions)
        drawn = line.drawn
        epoch = f" {epoch_of(drawn, epochs)}" if len(epochs) > 1 else ""
        made.append(
            Unit(
                session=drawn.root,
                arm=drawn.arm,
                above=above,
                below=below,
                stratum=f"{drawn.agent} {drawn.project}{epoch}",
                before=earlier.get((drawn.agent, drawn.project)),
                at=drawn.at,
            )
        )
    return made


def each_alone(metric: MetricName, went: Iterable[Went]) -> list[Unit]:
    """Every session for itself, whatever it was given: what a plan is drawn from."""
    made = []
    for each in went:
        if each.judged and each.calls:
            above, below = ratio_of(metric, [each])
            made.append(Unit(session=each.session, arm="", above=above, below=below, cluster=each.project))
    return made


def _before(metric: MetricName, sessions: Sequence[Went]) -> float | None:
    """The metric over earlier sessions, each counted for itself."""
    ratios = [ratio_of(metric, [each]) for each in sessions]
    below = sum(each.below for each in ratios)
    return sum(each.above for each in ratios) / below if below else None


def _shares(drawn: Assignment) -> Shares:
    return tuple(sorted((arm, round(share, 6)) for arm, share in drawn.shares.items()))


def epochs_of(found: Measured) -> list[Shares]:
    """The shares that lots were drawn with, in their order."""
    return list(dict.fromkeys(_shares(line.drawn) for line in found.lines))


def epoch_of(drawn: Assignment, epochs: Sequence[Shares]) -> int:
    """The number, from 1, of the stretch in which a lot was drawn."""
    return epochs.index(_shares(drawn)) + 1
