"""Compares two sessions, or two sets of sessions, measure by measure.

Knows nothing of where sessions are kept. Two sessions are two samples of calls: Newcombe's interval of the difference and
Fisher's test for shares; calls resampled and permuted for amounts. Two sets are two samples of sessions, whose calls are
alike: sessions resampled (cluster bootstrap) for the interval, sessions permuted for the test. A difference counts as shown
if the 95 % interval leaves zero out and the test gives 5 % or less.
"""

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, Protocol

import numpy as np

from preheat.model.comparison import Comparison, ComparisonFinding, ComparisonSide, Difference, MeasureUnit
from preheat.model.outcome import FAILURES, JUDGED, Cause, Status
from preheat.statistics.intervals import (
    SEED,
    Floats,
    effective_sessions,
    newcombe,
    percentile_interval,
    ratios_of_draws,
    resample,
)
from preheat.statistics.shares import fisher

# The counts of a session (or of a part of one) that two things are compared by
_READS = frozenset(["read", "shell:read"])


class CountedCall(Protocol):
    """What the counts need of a judged call."""

    @property
    def activity(self) -> str: ...
    @property
    def bookkeeping(self) -> bool: ...
    @property
    def status(self) -> Status: ...
    @property
    def cause(self) -> Cause | None: ...
    @property
    def repeated(self) -> bool: ...
    @property
    def reread(self) -> bool: ...
    @property
    def lost_seconds(self) -> float: ...
    @property
    def lost_tokens(self) -> int: ...
    @property
    def recovered_in(self) -> int | None: ...


class Counts(NamedTuple):
    """What a session (or a part of one) adds to each rate; the agent's notes to itself are in none of them."""

    calls: int = 0
    judged: int = 0
    failures: int = 0
    mistakes: int = 0
    recovered: int = 0
    repeats: int = 0
    reads: int = 0
    rereads: int = 0
    lost_seconds: float = 0.0
    lost_tokens: int = 0
    avoidable: int = 0
    """Failures that can cost something: all but findings."""
    timed: int = 0
    """The calls, if failures among them cost time at all: not every agent records when things happened."""
    asks: int = 0
    asked_again: int = 0

    def plus(self, other: "Counts") -> "Counts":
        return Counts._make(mine + theirs for mine, theirs in zip(self, other, strict=True))


NO_COUNTS = Counts()


def count_calls(calls: Iterable[CountedCall]) -> Counts:
    """The counts of some calls."""
    number = judged = failures = mistakes = recovered = repeats = reads = rereads = tokens = avoidable = 0
    seconds = 0.0
    for call in calls:
        if call.bookkeeping:
            continue
        number += 1
        judged += call.status in JUDGED
        repeats += call.repeated
        reads += call.activity in _READS
        rereads += call.reread
        if call.status in FAILURES:
            failures += 1
            mistakes += call.cause == "mistake"
            avoidable += call.cause != "finding"
            recovered += call.recovered_in is not None
            seconds += call.lost_seconds
            tokens += call.lost_tokens
    timed = number if seconds > 0 or not avoidable else 0
    return Counts(
        number, judged, failures, mistakes, recovered, repeats, reads, rereads, seconds, tokens, avoidable, timed
    )


# Comparisons
FEWEST_CALLS = 5
FEWEST_SESSIONS = 5
LEVEL = 0.05
_PERMUTATIONS = 1999
_SEED = 20_261
_FEW_EVENTS = 5
_METHODS: dict[Literal["sessions", "sets"], str] = {
    "sessions": "Newcombe interval and Fisher's exact test over calls; bootstrap and permutation over calls for amounts",
    "sets": "bootstrap and permutation over sessions",
}


class _Measure(NamedTuple):
    name: str
    unit: MeasureUnit
    events: str
    total: str


MEASURES = (
    _Measure("errors", "share", "failures", "judged"),
    _Measure("mistakes", "share", "mistakes", "judged"),
    _Measure("recovered", "share", "recovered", "failures"),
    _Measure("repeated calls", "share", "repeats", "calls"),
    _Measure("repeated reads", "share", "rereads", "reads"),
    _Measure("time lost per call", "seconds", "lost_seconds", "timed"),
    _Measure("tokens lost per call", "tokens", "lost_tokens", "calls"),
)
"""The first is the one that the verdict rests on."""


def compare_sessions(a: tuple[str, Sequence[CountedCall]], b: tuple[str, Sequence[CountedCall]]) -> Comparison:
    """Two sessions, each with its label."""
    sides = [_calls(calls) for _, calls in (a, b)]
    return _compare("sessions", (a[0], 1, sides[0]), (b[0], 1, sides[1]), 0)


def compare_sets(a: tuple[str, Sequence[Counts]], b: tuple[str, Sequence[Counts]], shared: int = 0) -> Comparison:
    """Two sets of sessions, each with its label; `shared` were in both and have been taken out of one."""
    return _compare("sets", (a[0], len(a[1]), a[1]), (b[0], len(b[1]), b[1]), shared)


def _calls(calls: Sequence[CountedCall]) -> list[Counts]:
    """Each call counted alone; whether times were recorded is known of the session only."""
    timed = count_calls(calls).timed > 0
    return [count_calls([call])._replace(timed=int(timed)) for call in calls if not call.bookkeeping]


_LabelledCounts = tuple[str, int, Sequence[Counts]]


def _compare(of: Literal["sessions", "sets"], a: _LabelledCounts, b: _LabelledCounts, shared: int) -> Comparison:
    totals = _sum(a[2]), _sum(b[2])
    resampled = _resample(a[2], b[2]) if _enough_units(of, a[2]) and _enough_units(of, b[2]) else None
    differences = tuple(
        _difference(of, measure, totals, resampled[place] if resampled else None)
        for place, measure in enumerate(MEASURES)
    )
    return Comparison(
        a=_side(a, totals[0]),
        b=_side(b, totals[1]),
        of=of,
        method=_METHODS[of],
        differences=differences,
        shared=shared,
        verdict=differences[0].finding,
    )


def _side(labelled: _LabelledCounts, total: Counts) -> ComparisonSide:
    return ComparisonSide(label=labelled[0], sessions=labelled[1], calls=total.calls, judged=total.judged)


def _sum(parts: Sequence[Counts]) -> Counts:
    total = Counts()
    for part in parts:
        total = total.plus(part)
    return total


def _difference(
    of: Literal["sessions", "sets"], measure: _Measure, totals: tuple[Counts, Counts], resampled: "_Resampled | None"
) -> Difference:
    count_a, count_b = (getattr(total, measure.events) for total in totals)
    total_a, total_b = (getattr(total, measure.total) for total in totals)
    value_a, value_b = (_value(measure, total) for total in totals)
    low = high = p = None
    finding: ComparisonFinding = "too little data"
    if value_a is not None and value_b is not None and resampled is not None and resampled.enough:
        difference = value_a - value_b  # percentiles of draws may lie on one side of what was found
        low, high, p = min(resampled.low, difference), max(resampled.high, difference), resampled.p
        if measure.unit == "share":
            exact = newcombe(count_a, total_a, count_b, total_b)
            if of == "sessions":
                low, high, p = *exact, fisher(count_a, total_a, count_b, total_b)
            elif count_a + count_b < _FEW_EVENTS:
                # Sessions drawn anew hardly ever show what rare events may do; independent calls show the least of it.
                low, high = min(low, exact[0]), max(high, exact[1])
        finding = _finding(low, high, p)
    return Difference(
        measure=measure.name,
        unit=measure.unit,
        a_count=count_a,
        a_total=total_a,
        a=value_a,
        b_count=count_b,
        b_total=total_b,
        b=value_b,
        difference=None if value_a is None or value_b is None else value_a - value_b,
        low=low,
        high=high,
        p=p,
        finding=finding,
    )


def _value(measure: _Measure, total: Counts) -> float | None:
    count, of = getattr(total, measure.events), getattr(total, measure.total)
    if of <= 0 or (measure.unit != "share" and total.avoidable and not count):
        return None  # failures that cost nothing at all: times (or tokens) were not recorded
    return float(count / of)


def _enough_units(of: Literal["sessions", "sets"], units: Sequence[Counts]) -> bool:
    return len(units) >= (FEWEST_SESSIONS if of == "sets" else FEWEST_CALLS)


def _finding(low: float, high: float, p: float) -> ComparisonFinding:
    if p > LEVEL or low <= 0 <= high:
        return "no difference shown"
    return "a is higher" if low > 0 else "b is higher"


class _Resampled(NamedTuple):
    """One measure over units (sessions, or calls), resampled and permuted."""

    enough: bool
    low: float
    high: float
    p: float


def _resample(a: Sequence[Counts], b: Sequence[Counts]) -> list[_Resampled]:
    """Every measure's interval by resampling units, and its test by permuting them between the two sides."""
    rows = [
        np.array([[getattr(unit, name) for measure in MEASURES for name in measure[2:]] for unit in units], float)
        for units in (a, b)
    ]
    drawn = [resample(side, seed=SEED + place) for place, side in enumerate(rows)]
    p = _permutation_tests(rows[0], rows[1])
    found = []
    for place in range(len(MEASURES)):
        events, total = 2 * place, 2 * place + 1
        sizes = [side[:, total] for side in rows]
        draws = [ratios_of_draws(side[:, events], side[:, total]) for side in drawn]
        interval = percentile_interval(draws[0] - draws[1], min(map(effective_sessions, sizes)))
        enough = interval is not None and all(np.count_nonzero(size) >= FEWEST_CALLS for size in sizes)
        low, high = interval or (0.0, 0.0)
        found.append(_Resampled(enough, low, high, float(p[place])))
    return found


def _permutation_tests(a: Floats, b: Floats) -> Floats:
    """For every measure, the share of random permutations with a difference as large as the observed one.

    The difference is measured in standard errors (a studentised permutation test): units differ in size and spread, and without
    that a side with few large ones would look surprising too often.
    """
    both = np.concatenate([a, b])
    events, total = both[:, 0::2], both[:, 1::2]
    columns = np.concatenate([events, total, events * events, events * total, total * total], axis=1)
    everything = columns.sum(axis=0)
    found = columns[: len(a)].sum(axis=0)
    random = np.random.default_rng(_SEED)
    permutations = np.stack(
        [columns[random.permutation(len(both))[: len(a)]].sum(axis=0) for _ in range(_PERMUTATIONS)]
    )
    observed = _standardised_difference(found[None, :], everything, len(a), len(b))
    permuted = _standardised_difference(permutations, everything, len(a), len(b))
    # A permutation whose difference is undefined counts as one that is as large.
    as_large = np.count_nonzero(~(np.abs(permuted) < np.abs(observed) - 1e-9), axis=0)
    chance: Floats = (1 + as_large) / (1 + _PERMUTATIONS)
    return chance


def _standardised_difference(sums: Floats, everything: Floats, units_a: int, units_b: int) -> Floats:
    """The difference of the two sides' shares in standard errors, from the sums of one side."""
    shares, variances = [], []
    for side, units in ((sums, units_a), (everything - sums, units_b)):
        events, total, events_2, product, total_2 = np.split(side, 5, axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = events / total
            spread = np.maximum(events_2 - 2 * share * product + share * share * total_2, 0)
            variances.append(spread / (total * total) * units / max(units - 1, 1))
        shares.append(share)
    difference = shares[0] - shares[1]
    deviation = np.sqrt(variances[0] + variances[1])
    with np.errstate(divide="ignore", invalid="ignore"):
        standardised: Floats = np.where(difference == 0, 0.0, difference / deviation)
    return standardised
