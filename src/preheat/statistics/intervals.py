"""Intervals of rates and of their differences: formulas that hold for small and zero counts, and the cluster bootstrap.

Knows nothing of what is counted. Calls of one session are alike, so the bootstrap draws whole sessions, with replacement; its
bounds are percentiles, moved outwards for few sessions (Hesterberg 2015, "expanded percentile").
"""

from collections.abc import Callable
from math import hypot, inf, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, ndtr, stdtrit

from preheat.model.population import IntervalEstimate
from preheat.model.profile import Rate
from preheat.statistics.shares import wilson

# Intervals of the difference and of the ratio of two shares, which hold for small and zero counts.
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


# The cluster bootstrap.
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

RESAMPLES = 2_000
SEED = 20_260
BUNDLES = 5_000
"""More sessions than this are put at random into this many bundles, which are independent too: that bounds time and memory
without changing the variance."""
FEW_FAILURES = 5
"""With fewer failures (or successes) than this, resampling underestimates how large the rate may be."""
_BATCH = 64


def bundle_numbers(sessions: int, seed: int = SEED) -> Ints:
    """For every session the number of its bundle: one of its own unless there are very many sessions."""
    if sessions <= BUNDLES:
        return np.arange(sessions)
    return np.random.default_rng(seed).permutation(sessions) % BUNDLES


def resample(counts: NDArray[Any], resamples: int = RESAMPLES, seed: int = SEED) -> Floats:
    """The sums of every column over resampled sessions (or bundles): sessions x columns gives resamples x columns. The same seed
    gives the same draws, so columns may come in several calls."""
    sessions, width = counts.shape
    sums = np.zeros((resamples, width))
    if not sessions:
        return sums
    counts = counts.astype(np.float32)
    random = np.random.default_rng(seed)
    for start in range(0, resamples, _BATCH):
        size = min(_BATCH, resamples - start)
        drawn = random.integers(0, sessions, (size, sessions), dtype=np.int32)
        times = np.stack([np.bincount(row, minlength=sessions) for row in drawn]).astype(np.float32)
        sums[start : start + size] = times @ counts
    return sums


def ratios_of_draws(numerators: Floats, denominators: Floats) -> Floats:
    """The ratio in every resample; NaN, which `percentile_interval` leaves out, where the denominator is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = np.where(denominators > 0, numerators / denominators, np.nan)
    return found


def effective_sessions(sizes: Floats) -> float:
    """The effective number of sessions: how many of equal size would give the same variance."""
    squares = float((sizes * sizes).sum())
    return float(sizes.sum()) ** 2 / squares if squares else 0.0


def percentile_interval(draws: Floats, sessions: float, tail: float = 0.025) -> tuple[float, float] | None:
    """The percentile interval of the draws, with `tail` on each side, for so many effective sessions; None without draws."""
    kept = draws[~np.isnan(draws)]
    if not len(kept):
        return None
    sessions = max(sessions, 1.5)
    reach = sqrt(sessions / (sessions - 1)) * float(stdtrit(sessions - 1, 1 - tail))
    outside = float(ndtr(-reach))
    low, high = np.quantile(kept, [outside, 1 - outside])
    return float(low), float(high)


def rate_with_interval(failed: int, total: int, draws: Floats, sessions: float, design: float = 1.0) -> Rate:
    """A rate with its interval from the draws. `design`: how many times the variance of clustered calls exceeds that of
    independent ones; it widens Wilson's interval, which is used where failures are too few to be resampled."""
    value = failed / total if total else None
    found = percentile_interval(draws, sessions)
    if value is None or found is None:
        return Rate(failed, total, value)
    low, high = found
    if min(failed, total - failed) < FEW_FAILURES:
        shrunk = max(1, round(total / max(design, 1.0)))
        few = wilson(min(round(value * shrunk), shrunk), shrunk)
        low, high = min(low, few[0]), max(high, few[1])
    return Rate(failed, total, value, min(max(low, 0.0), value), max(min(high, 1.0), value))


def difference_with_interval(value: float | None, draws: Floats, sessions: float) -> IntervalEstimate:
    """A difference of rates with its interval from the draws."""
    found = percentile_interval(draws, sessions)
    if value is None or found is None:
        return IntervalEstimate()
    return IntervalEstimate(value, min(found[0], value), max(found[1], value))
