"""The cluster bootstrap: how a rate would vary if other sessions had been recorded.

Knows nothing of what is counted. Calls of one session are alike, so whole sessions are drawn, with replacement, and every cell
is counted from the same draws. Bounds are percentiles, moved outwards for few sessions (Hesterberg 2015, "expanded percentile"),
where plain percentiles are too narrow.
"""

from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, stdtrit

from preheat.model.population import IntervalEstimate
from preheat.model.profile import Rate
from preheat.statistics.wilson import wilson

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
