"""Intervals of the difference and of the ratio of two shares, which hold for small and zero counts.

Knows nothing of calls or sessions: numbers in, numbers out, and never a NaN.
"""

from collections.abc import Callable
from math import hypot, inf, sqrt

from scipy.special import betaincinv

from preheat.statistics.wilson import wilson

Z_ONE_SIDED_95 = 1.6448536269514722
"""The normal quantile with 5 % on one side."""
Z_POWER_80 = 0.8416212335729143
"""The normal quantile for a power of 80 %."""
_TAIL = 0.05
_FEW = 20
_LARGEST = 1e9


def newcombe(count_a: int, total_a: int, count_b: int, total_b: int) -> tuple[float, float]:
    """The 95 % interval of the difference of two proportions, A minus B (Newcombe 1998, method 10: from Wilson's intervals)."""
    if total_a <= 0 or total_b <= 0:
        return -1.0, 1.0
    share_a, share_b = count_a / total_a, count_b / total_b
    (low_a, high_a), (low_b, high_b) = wilson(count_a, total_a), wilson(count_b, total_b)
    difference = share_a - share_b
    return (
        max(-1.0, difference - hypot(share_a - low_a, high_b - share_b)),
        min(1.0, difference + hypot(high_a - share_a, share_b - low_b)),
    )


def ratio_bounds(count_a: int, total_a: int, count_b: int, total_b: int) -> tuple[float, float]:
    """Bounds of the ratio of two proportions, A by B, each with 95 % confidence; 0 and infinity without events.

    The values of the ratio that a score test does not reject (Koopman 1984); zero counts are allowed. With few events that
    interval is too narrow, and the wider of it and the exact one is taken.
    """
    if total_a <= 0 or total_b <= 0 or count_a + count_b == 0:
        return 0.0, inf

    def score(ratio: float) -> float:
        return _score(count_a, total_a, count_b, total_b, ratio)

    low = 0.0 if count_a == 0 else _find_ratio(score, Z_ONE_SIDED_95)
    high = inf if count_b == 0 else _find_ratio(score, -Z_ONE_SIDED_95)
    if count_a + count_b < _FEW:
        exact = _exact_bounds(count_a, total_a, count_b, total_b)
        low, high = min(low, exact[0]), max(high, exact[1])
    return low, high


def _exact_bounds(count_a: int, total_a: int, count_b: int, total_b: int) -> tuple[float, float]:
    """Bounds from A's share of all events (Clopper and Pearson)."""
    scale = total_b / total_a
    low, high = 0.0, inf
    if count_a:
        share = float(betaincinv(count_a, count_b + 1, _TAIL))
        low = scale * share / (1 - share)
    if count_b:
        share = float(betaincinv(count_a + 1, count_b, 1 - _TAIL))
        high = scale * share / (1 - share)
    return low, high


def _score(count_a: int, total_a: int, count_b: int, total_b: int, ratio: float) -> float:
    """How far the counts are from a ratio, in standard deviations; falls as the ratio grows."""
    both = total_a + total_b
    linear = ratio * (total_a + count_b) + count_a + total_b
    root = sqrt(max(0.0, linear * linear - 4 * both * ratio * (count_a + count_b)))
    # The smaller root, in a form without cancellation.
    share_b = min(1.0, 2 * (count_a + count_b) / (linear + root))
    share_a = min(1.0, ratio * share_b)
    variance = share_a * (1 - share_a) / total_a + ratio * ratio * share_b * (1 - share_b) / total_b
    distance = count_a / total_a - ratio * count_b / total_b
    if variance <= 0:
        return 0.0 if distance == 0 else (inf if distance > 0 else -inf)
    return distance / sqrt(variance)


def _find_ratio(score: Callable[[float], float], target: float) -> float:
    """The ratio at which a falling score passes the target, by halving on the logarithm."""
    low, high = 1 / _LARGEST, _LARGEST
    for _ in range(80):
        middle = sqrt(low * high)
        if score(middle) > target:
            low = middle
        else:
            high = middle
    return sqrt(low * high)
