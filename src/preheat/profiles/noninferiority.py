"""Decides whether a rate stayed what it was: within a margin, beyond it, or unknown.

Knows nothing of what happened between before and after.

A rate is *preserved* if the ratio after : before is below 1 + margin with 95 % confidence (one-sided), *not preserved* if it is
above that with the same confidence, and otherwise there is too little data. Bounds are score bounds, with few events exact
ones: both are good without any event on a side. Over several sessions they are the wider of those and the cluster
bootstrap's, so that neither calls of one session pass for independent ones, nor resamples without events for certainty.
"""

from collections.abc import Sequence
from math import ceil, exp, inf, log, log10
from typing import NamedTuple

import numpy as np

from preheat.model.comparison import MeasureChange, PreservationVerdict
from preheat.model.profile import Rate
from preheat.profiles.comparison import Counts
from preheat.statistics.intervals import (
    Z_ONE_SIDED_95,
    Z_POWER_80,
    effective_sessions,
    percentile_interval,
    rate_with_interval,
    ratio_bounds,
    ratios_of_draws,
    resample,
)
from preheat.statistics.shares import rate_of

FEWEST_CLUSTERS = 5
"""Fewer sessions (but more than one) are neither one case nor a sample of cases."""


class _Measure(NamedTuple):
    name: str
    events: str
    total: str


MEASURES = (
    _Measure("errors", "failures", "judged"),
    _Measure("mistakes", "mistakes", "judged"),
    _Measure("repeated reads", "rereads", "reads"),
    _Measure("asked again", "asked_again", "asks"),
)
"""The first is the one that the verdict rests on."""

Pair = tuple[Counts, Counts]


class _Resampled(NamedTuple):
    """A measure over sessions drawn anew: the rates, and the bounds of their ratio."""

    before: Rate
    after: Rate
    low: float
    high: float


def measure_changes(clusters: Sequence[Sequence[Pair]], margin: float) -> tuple[MeasureChange, ...]:
    """Every measure over some clusters (sessions), each with its pairs of before and after."""
    sums = [_sum(pairs) for pairs in clusters]
    total = _sum(sums)
    drawn = _resample(sums, total) if len(sums) >= FEWEST_CLUSTERS else [None] * len(MEASURES)
    few = 1 < len(sums) < FEWEST_CLUSTERS
    return tuple(_change(measure, total, margin, each, few) for measure, each in zip(MEASURES, drawn, strict=True))


def _sum(pairs: Sequence[Pair]) -> Pair:
    before, after = Counts(), Counts()
    for left, right in pairs:
        before, after = before.plus(left), after.plus(right)
    return before, after


def _numbers(measure: _Measure, pair: Pair) -> tuple[int, int, int, int]:
    before, after = pair
    return (
        getattr(before, measure.events),
        getattr(before, measure.total),
        getattr(after, measure.events),
        getattr(after, measure.total),
    )


def _change(measure: _Measure, pair: Pair, margin: float, drawn: "_Resampled | None", few: bool) -> MeasureChange:
    events_before, total_before, events_after, total_after = _numbers(measure, pair)
    low, high = alone = ratio_bounds(events_after, total_after, events_before, total_before)
    before, after = rate_of(events_before, total_before), rate_of(events_after, total_after)
    if drawn is not None:
        low, high = min(low, drawn.low), max(high, drawn.high)
        before, after = drawn.before, drawn.after
    known = before.value is not None and after.value is not None
    verdict = _verdict(low, high, margin) if known and not few else "too little data"
    return MeasureChange(
        measure=measure.name,
        before=before,
        after=after,
        ratio=after.value / before.value if before.value and after.value is not None else None,
        low=low if known and low > 0 else None,
        high=high if known and high < inf else None,
        verdict=verdict,
        needed=_calls_needed((events_before, total_before, events_after, total_after), margin, _design(alone, drawn))
        if known and verdict == "too little data"
        else None,
    )


def _verdict(low: float, high: float, margin: float) -> PreservationVerdict:
    if high <= 1 + margin:
        return "preserved"
    return "not preserved" if low > 1 + margin else "too little data"


def _calls_needed(numbers: tuple[int, int, int, int], margin: float, design: float) -> int:
    """How many on each side would show, in four cases of five, that nothing changed, if nothing did."""
    events_before, total_before, events_after, total_after = numbers
    share = min(0.99, (events_before + events_after + 0.5) / (total_before + total_after + 1))
    wanted = log(1 + margin) / (Z_ONE_SIDED_95 + Z_POWER_80)
    return _round_up(design * 2 * (1 - share) / share / wanted**2)


def _design(alone: tuple[float, float], drawn: "_Resampled | None") -> float:
    """The design effect: how many times more calls are needed because calls of one session are alike."""
    if drawn is None or not 0 < alone[0] < alone[1] < inf:
        return 1.0
    return max(1.0, log(drawn.high / drawn.low) / log(alone[1] / alone[0])) ** 2


def _round_up(number: float) -> int:
    """Up, to two digits: it is rough."""
    digits = max(0, int(log10(max(number, 1))) - 1)
    unit = int(10**digits)
    return ceil(number / unit) * unit


def _resample(sums: Sequence[Pair], total: Pair) -> "list[_Resampled | None]":
    """By measure. Half an event is put on both sides of every draw, so that one without events gives a number."""
    matrix = np.array([[number for measure in MEASURES for number in _numbers(measure, pair)] for pair in sums], float)
    draws = resample(matrix)
    found: list[_Resampled | None] = []
    for place, measure in enumerate(MEASURES):
        sizes = matrix[:, 4 * place + 1], matrix[:, 4 * place + 3]
        before, of_before, after, of_after = draws[:, 4 * place : 4 * place + 4].T
        there = (of_before > 0) & (of_after > 0)
        logs = np.log((after + 0.5) / (of_after + 1)) - np.log((before + 0.5) / (of_before + 1))
        interval = percentile_interval(logs[there], effective_sessions(sizes[0] + sizes[1]), tail=0.05)
        if interval is None:
            found.append(None)
            continue
        numbers = _numbers(measure, total)
        found.append(
            _Resampled(
                rate_with_interval(
                    numbers[0], numbers[1], ratios_of_draws(before, of_before), effective_sessions(sizes[0])
                ),
                rate_with_interval(
                    numbers[2], numbers[3], ratios_of_draws(after, of_after), effective_sessions(sizes[1])
                ),
                exp(interval[0]),
                exp(interval[1]),
            )
        )
    return found
