"""Rates with their intervals, and the trend of a rate. Knows nothing of what is counted; imports neither numpy nor scipy."""

from collections.abc import Sequence
from functools import lru_cache
from math import sqrt
from typing import NamedTuple

from preheat.model.profile import Rate
from preheat.statistics.wilson import NORMAL_95, wilson

FEWEST_FOR_TREND = 10


class Trend(NamedTuple):
    """The slope of a line with its 95 % interval."""

    slope: float
    low: float
    high: float


@lru_cache(8192)  # the same few numbers are asked for many times
def rate_of(count: int, total: int) -> Rate:
    """The rate of `count` in `total` with Wilson's 95 % interval; without a value if `total` is 0."""
    return Rate(count, total, count / total, *wilson(count, total)) if total > 0 else Rate(count, max(total, 0))


def fit_trend(hits: Sequence[int], total: int) -> Trend | None:
    """The change of the rate of hits per hundred positions, by least squares; None where there are too few positions, or all are
    alike. `hits` are the positions (0 to `total` - 1) of the hits.

    The standard error is White's (HC1), because a rate's variance changes with the rate. Sums over all positions have closed
    forms (odd powers around the centre add up to 0), so the cost depends on the hits only.
    """
    if total < FEWEST_FOR_TREND or len(hits) in (0, total):
        return None
    mean = len(hits) / total
    squares = total * (total**2 - 1) / 12
    fourths = squares * (3 * total**2 - 7) / 20
    offsets = [place - (total - 1) / 2 for place in hits]
    slope = sum(offsets) / squares
    scatter = mean**2 * squares + slope**2 * fourths
    scatter += sum(offset**2 * (1 - 2 * (mean + slope * offset)) for offset in offsets)
    reach = _student(total - 2) * sqrt(max(scatter, 0.0) * total / (total - 2)) / squares
    return Trend(100 * slope, 100 * (slope - reach), 100 * (slope + reach))


def _student(freedom: int) -> float:
    """The 97.5 % point of Student's distribution, by its expansion around the normal one (0.1 % off at 8 degrees)."""
    cube, fifth = NORMAL_95**3, NORMAL_95**5
    return NORMAL_95 + (cube + NORMAL_95) / (4 * freedom) + (5 * fifth + 16 * cube + 3 * NORMAL_95) / (96 * freedom**2)
