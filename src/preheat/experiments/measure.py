"""The numbers of a comparison: one unit for each chain of sessions that was assigned to an arm. Pure; knows no archive.

Intention to treat: a session counts in the arm it was assigned to, whatever it was given. Sessions that cannot be measured are
counted and reported.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from preheat.model.experiment import Assignment, MetricName, Observation, SessionResult

Shares: TypeAlias = tuple[tuple[str, float], ...]
_CONTINUATIONS = frozenset(["fork", "continuation", "compaction"])
GOING_ON_SECONDS = 1800.0
"""Seconds after its last event for which a session may still go on, unless its agent said that it ended."""


class SessionChain(NamedTuple):
    """An assigned session with all its forks and continuations."""

    assignment: Assignment
    sessions: tuple[SessionResult, ...]
    """In time order; none if the archive has none of them."""

    @property
    def is_judged(self) -> bool:
        """Whether any of its sessions is judged."""
        return any(each.judged for each in self.sessions)


class Trial(NamedTuple):
    """Everything that a comparison is computed from."""

    chains: list[SessionChain]
    """In the order of their assignment."""
    unassigned: int
    """Sessions without an arm, because their start was missed."""
    unrecorded: int
    """Sessions of the trial's agents and projects that began during the trial and have no record of an assignment."""
    earlier: dict[tuple[str, str], tuple[SessionResult, ...]]
    """By agent and project: sessions before the trial."""
    since: float
    now: float
    reassigned: int = 0
    """Forks and continuations that got an assignment of their own: they count with the session they came from."""
    ended: frozenset[str] = frozenset()
    """Sessions whose agent said that they are over."""

    @property
    def missing(self) -> Counter[str]:
        """By arm: the number of chains of which the archive has no session."""
        return Counter(chain.assignment.arm for chain in self.chains if not chain.sessions)

    @property
    def unjudged(self) -> Counter[str]:
        """By arm: the number of chains without a judged session."""
        return Counter(chain.assignment.arm for chain in self.chains if chain.sessions and not chain.is_judged)

    @property
    def going_on(self) -> Counter[str]:
        """By arm: the number of chains that still go on."""
        return Counter(
            chain.assignment.arm
            for chain in self.chains
            if any(
                each.session not in self.ended and self.now - (each.ended_at or 0.0) < GOING_ON_SECONDS
                for each in chain.sessions
            )
        )


def build_trial(
    assignments: Sequence[Assignment],
    results: Iterable[SessionResult],
    now: float,
    since: float = 0.0,
    until: float | None = None,
    elsewhere: Iterable[str] = (),
    ended: Iterable[str] = (),
) -> Trial:
    """The chains of assigned sessions, and the number of the others. `since` and `until`: when the trial began and ended
    (default: its first assignment, and now); `elsewhere`: sessions of other trials; `ended`: sessions whose agent said that
    they are over."""
    known = {each.session: each for each in results}
    since = since or min((each.at for each in assignments), default=now)
    with_arm = [each for each in assignments if each.arm != "unassigned"]
    assigned_roots = {each.session: each.root for each in with_arm}
    root_of = _chain_roots(known, assigned_roots)
    roots = {each.root: each for each in reversed(with_arm) if root_of[each.session] == each.root}
    reassigned = sum(root_of[session] != root for session, root in assigned_roots.items())
    sessions_by_root: defaultdict[str, list[SessionResult]] = defaultdict(list)
    for session, root in root_of.items():
        if session in known:
            sessions_by_root[root].append(known[session])
    chains = [
        SessionChain(each, tuple(sorted(sessions_by_root[root], key=lambda one: (one.started_at or 0.0, one.session))))
        for root, each in sorted(roots.items(), key=lambda item: (item[1].at, item[0]))
    ]
    scope = {(each.agent, each.project) for each in assignments}
    in_trial = {each.session for each in assignments} | root_of.keys()
    accounted = in_trial.union(elsewhere)
    end = now if until is None else until
    unrecorded = [
        each for each in known.values() if each.session not in accounted and _is_unrecorded(each, scope, since, end)
    ]
    return Trial(
        chains,
        sum(each.arm == "unassigned" for each in assignments),
        len(unrecorded),
        _earlier(known.values(), in_trial, since),
        since,
        now,
        reassigned,
        frozenset(ended),
    )


def _is_unrecorded(each: SessionResult, scope: set[tuple[str, str]], since: float, until: float) -> bool:
    return (each.agent, each.project) in scope and since < (each.started_at or 0.0) < until and each.calls > 0


def _chain_roots(known: Mapping[str, SessionResult], assigned: Mapping[str, str]) -> dict[str, str]:
    """By session, the assigned session that its chain began with. A fork or continuation that got an assignment of its own counts
    with the session that it came from, whose context it has."""
    roots: dict[str, str] = {}
    for session in {**assigned, **dict.fromkeys(known, "")}:
        path = [session]
        while (
            (each := known.get(path[-1])) is not None
            and each.relation in _CONTINUATIONS
            and each.parent not in (*path, "")
        ):
            path.append(each.parent)
        root = next((assigned[one] for one in reversed(path) if one in assigned), "")
        if root:
            roots[session] = root
    return roots


def _earlier(
    results: Iterable[SessionResult], in_trial: Iterable[str], since: float
) -> dict[tuple[str, str], tuple[SessionResult, ...]]:
    inside = frozenset(in_trial)
    found: defaultdict[tuple[str, str], list[SessionResult]] = defaultdict(list)
    for each in results:
        if each.session not in inside and each.ended_at is not None and each.ended_at < since:
            found[each.agent, each.project].append(each)
    return {key: tuple(some) for key, some in found.items()}


# Metrics.
class Ratio(NamedTuple):
    """A ratio of two numbers; there is nothing to count if `below` is 0."""

    above: float
    below: float


def _rate(sessions: Sequence[SessionResult], count: Callable[[SessionResult], int]) -> Ratio:
    return Ratio(sum(count(each) for each in sessions), sum(each.calls for each in sessions))


def _last_answer(sessions: Sequence[SessionResult], answer_of: Callable[[SessionResult], bool | None]) -> Ratio:
    answers = [answer for each in sessions if (answer := answer_of(each)) is not None]
    return Ratio(float(answers[-1]), 1.0) if answers else Ratio(0.0, 0.0)


def _total(values: Iterable[float]) -> Ratio:
    """The sum of values; 0 means that the transcripts do not say it, so there is nothing to count."""
    total = sum(values)
    return Ratio(total, 1.0) if total else Ratio(0.0, 0.0)


def _seconds(each: SessionResult) -> float:
    return max(0.0, each.ended_at - each.started_at) if each.started_at and each.ended_at else 0.0


_METRICS: dict[MetricName, Callable[[Sequence[SessionResult]], Ratio]] = {
    "mistakes": lambda some: _rate(some, lambda each: each.mistakes),
    "errors": lambda some: _rate(some, lambda each: each.errors),
    "success": lambda some: _last_answer(some, lambda each: each.passed),
    "seconds": lambda some: _total(map(_seconds, some)),
    "tokens": lambda some: _total(each.tokens for each in some),
    "cost": lambda some: _total(each.cost for each in some),
    "corrections": lambda some: Ratio(sum(each.corrections for each in some), 1.0),
    "rating": lambda some: _last_answer(some, lambda each: each.rating),
}


def ratio_of(metric: MetricName, sessions: Sequence[SessionResult]) -> Ratio:
    """A metric over several sessions together."""
    return _METRICS[metric](sessions)


def trial_units(metric: MetricName, trial: Trial) -> list[Observation]:
    """The judged chains of sessions as units of a metric. The strata are agent, project and epoch of equal shares."""
    epochs = epochs_of(trial)
    earlier = {stratum: _metric_before(metric, sessions) for stratum, sessions in trial.earlier.items()}
    units = []
    for chain in trial.chains:
        if not chain.is_judged:
            continue
        above, below = ratio_of(metric, chain.sessions)
        assignment = chain.assignment
        epoch = f" {epoch_of(assignment, epochs)}" if len(epochs) > 1 else ""
        units.append(
            Observation(
                session=assignment.root,
                arm=assignment.arm,
                above=above,
                below=below,
                stratum=f"{assignment.agent} {assignment.project}{epoch}",
                before=earlier.get((assignment.agent, assignment.project)),
                at=assignment.at,
            )
        )
    return units


def single_units(metric: MetricName, results: Iterable[SessionResult]) -> list[Observation]:
    """Every session as a unit of its own, whatever it was given: the sample that a plan is simulated from."""
    units = []
    for each in results:
        if each.judged and each.calls:
            above, below = ratio_of(metric, [each])
            units.append(Observation(session=each.session, arm="", above=above, below=below, cluster=each.project))
    return units


def _metric_before(metric: MetricName, sessions: Sequence[SessionResult]) -> float | None:
    """The metric over earlier sessions."""
    ratios = [ratio_of(metric, [each]) for each in sessions]
    below = sum(each.below for each in ratios)
    return sum(each.above for each in ratios) / below if below else None


def _shares(assignment: Assignment) -> Shares:
    return tuple(sorted((arm, round(share, 6)) for arm, share in assignment.shares.items()))


def epochs_of(trial: Trial) -> list[Shares]:
    """The different shares of the arms over time, in order."""
    return list(dict.fromkeys(_shares(chain.assignment) for chain in trial.chains))


def epoch_of(assignment: Assignment, epochs: Sequence[Shares]) -> int:
    """The number, from 1, of the epoch of equal shares that an assignment belongs to."""
    return epochs.index(_shares(assignment)) + 1
