"""Shares: Wilson's interval, a rate with its trend, Fisher's exact test, and p-values corrected for many tests.

Knows counts only. Imports neither numpy nor scipy: the model and the quick paths use it.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import exp, lgamma, sqrt
from typing import NamedTuple

from preheat.errors import UserError
from preheat.model.profile import Rate

# Wilson's interval of a share.
NORMAL_95 = 1.959963984540054
"""The half-width of the central 95 % of a normal distribution, in standard deviations."""


def wilson(hits: float, total: float, deviations: float = NORMAL_95) -> tuple[float, float]:
    """The ends of Wilson's score interval, which stays within 0 and 1 and holds for small counts; (0, 1) without trials."""
    if total <= 0:
        return 0.0, 1.0
    share = hits / total
    square = deviations * deviations
    middle = (share + square / (2 * total)) / (1 + square / total)
    reach = deviations * sqrt(share * (1 - share) / total + square / (4 * total * total)) / (1 + square / total)
    # Rounding must not put an end on the wrong side of the share.
    return min(max(middle - reach, 0.0), share), max(min(middle + reach, 1.0), share)


# Rates with their intervals, and the trend of a rate.
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


# Fisher's exact test of two shares, one-sided and two-sided.
_TIED = 1 + 1e-7
"""Two tables whose probabilities differ by less are equally likely: the difference is rounding."""


def fisher_one_sided(hits: int, total: int, other_hits: int, other_total: int) -> float:
    """One-sided p-value: the probability that the first group gets at least this many of all hits by chance."""
    drawn, whole = hits + other_hits, total + other_total
    most = min(drawn, total)
    tail = sum(exp(_log_chance(count, drawn, total, whole)) for count in range(hits, most + 1))
    return min(1.0, tail)


def fisher(hits: int, total: int, other_hits: int, other_total: int) -> float:
    """Two-sided p-value: the probability that chance divides the hits at least as unevenly."""
    drawn, whole = hits + other_hits, total + other_total
    least, most = max(0, drawn - other_total), min(drawn, total)
    chances = [exp(_log_chance(count, drawn, total, whole)) for count in range(least, most + 1)]
    seen = chances[hits - least] * _TIED
    return min(1.0, sum(chance for chance in chances if chance <= seen))


def _log_chance(count: int, drawn: int, marked: int, whole: int) -> float:
    """The logarithm of the hypergeometric probability of `count` marked ones among `drawn` of `whole`."""
    if count < drawn - (whole - marked):
        return float("-inf")
    return _log_choose(marked, count) + _log_choose(whole - marked, drawn - count) - _log_choose(whole, drawn)


def _log_choose(whole: int, part: int) -> float:
    return lgamma(whole + 1) - lgamma(part + 1) - lgamma(whole - part + 1)


# P-values corrected for many tests.
def holm(chances: Sequence[float]) -> list[float]:
    """Holm's corrected p-values, in the same order: the probability that any is below `risk` by chance is at most `risk`."""
    order = _ascending(chances)
    corrected = [1.0] * len(order)
    most = 0.0
    for rank, place in enumerate(order):
        most = max(most, (len(order) - rank) * chances[place])
        corrected[place] = min(most, 1.0)
    return corrected


def benjamini_hochberg(chances: Sequence[float]) -> list[float]:
    """Benjamini and Hochberg's corrected p-values, in the same order: of those below `risk`, on average at most that share are
    there by chance."""
    order = _ascending(chances)
    corrected = [1.0] * len(order)
    least = 1.0
    for rank in range(len(order), 0, -1):
        place = order[rank - 1]
        least = min(least, chances[place] * len(order) / rank)
        corrected[place] = least
    return corrected


def _ascending(chances: Sequence[float]) -> list[int]:
    """The indexes of the p-values, the smallest first."""
    if not all(0 <= chance <= 1 for chance in chances):
        raise UserError("a p-value lies between 0 and 1; one of these does not")
    return sorted(range(len(chances)), key=lambda place: (chances[place], place))
