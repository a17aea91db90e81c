"""The variance of a difference of two ratios. Arrays in, numbers out; knows no session and no sentence.

The last axis is sessions (or clusters); axes before it are repetitions, so that a simulation is one call.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import stdtr, stdtrit

from preheat.statistics.sample import Numbers

_LONGEST = 0.999999
"""A session with a larger share of its arm leaves no variance to estimate."""
_USUAL = 0.05
_FEW_IN_CLUSTER = 3.0
_LENT = 10.0
"""Chosen by simulation: intervals have their coverage with a fifth of 60 to 400 sessions in one arm, skewed counts and unequal
lengths."""


class Arm(NamedTuple):
    """A ratio `Σ above / Σ below` in one arm, and its delta-method variance."""

    ratio: Numbers
    variance: Numbers
    freedom: Numbers
    share: Numbers
    """`Σ below² / (Σ below)²`: one over the effective number of sessions."""


class Spread(NamedTuple):
    difference: Numbers
    variance: Numbers
    freedom: Numbers


def measure_arm(above: Numbers, below: Numbers, inside: Numbers) -> Arm:
    """The ratio of one arm, weighted by `inside` (0 or 1, or an inverse probability).

    Residuals are divided by `1 - h`, h being the session's share of the denominator, because a long session pulls the ratio
    towards itself. The degrees of freedom are one less than the effective number of sessions, between the case of independent
    mistakes (a session's weight is its length) and that of sessions that are good or bad as a whole (its square). With sessions
    of equal length the variance is the sample variance over n, and the degrees of freedom are n - 1."""
    with np.errstate(divide="ignore", invalid="ignore"):
        below = below * inside
        total = below.sum(-1)
        ratio = (above * inside).sum(-1) / total
        leverage = below / total[..., None]
        rest = np.where(leverage < _LONGEST, 1 - leverage, np.nan)
        residuals = above * inside - ratio[..., None] * below
        variance = (residuals**2 / rest).sum(-1) / total**2
        squares = leverage**2
        share = squares.sum(-1)
        freedom = np.sqrt(np.maximum(1 / share - 1, 0) * np.maximum(share**2 / (squares**2).sum(-1) - 1, 0))
        return Arm(ratio, variance, freedom, share)


def compare_arms(one: Arm, other: Arm) -> Spread:
    """The difference of two arms, with Welch's degrees of freedom.

    Mistakes are skewed: a small arm may have few by chance, and then too small a variance. So an arm's variance is at least its
    own mixed with the pooled one, as if `_LENT` sessions were added to it; also where all sessions of an arm are equal."""
    with np.errstate(divide="ignore", invalid="ignore"):
        one_worth, other_worth = one.variance / one.share, other.variance / other.share
        both = (one_worth * one.freedom + other_worth * other.freedom) / (one.freedom + other.freedom)
        first = one.share * np.maximum(one_worth, (one_worth * one.freedom + both * _LENT) / (one.freedom + _LENT))
        second = other.share * np.maximum(
            other_worth, (other_worth * other.freedom + both * _LENT) / (other.freedom + _LENT)
        )
        total = first + second
        freedom = total**2 / (first**2 / one.freedom + second**2 / other.freedom)
    return Spread(one.ratio - other.ratio, total, freedom)


def jackknife_clusters(one_above: Numbers, one_below: Numbers, other_above: Numbers, other_below: Numbers) -> Spread:
    """The difference of two arms from sums by cluster: each cluster left out in turn (jackknife), G - 1 degrees of freedom.

    A cluster may hold both arms; what they share then cancels out. NaN where an arm is all in one cluster."""
    count = one_above.shape[-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        difference = one_above.sum(-1) / one_below.sum(-1) - other_above.sum(-1) / other_below.sum(-1)
        without = (one_above.sum(-1)[..., None] - one_above) / _rest(one_below) - (
            other_above.sum(-1)[..., None] - other_above
        ) / _rest(other_below)
        variance = (count - 1) / count * ((without - difference[..., None]) ** 2).sum(-1)
    return Spread(difference, variance, np.full(difference.shape, float(count - 1)))


def widen_for_small_arms(clusters: Spread, sessions: Spread, smaller: Numbers | float) -> Spread:
    """The variance by cluster; where the smaller arm has few sessions in a cluster, that by session if it is wider.

    There clusters are little more than sessions, and only the variance by session is corrected for small arms. Taking the wider
    one everywhere would give intervals of few clusters 98 % coverage instead of 95 %."""
    few = np.asarray(smaller) < _FEW_IN_CLUSTER * (clusters.freedom + 1)
    half_widths = [student_quantile(each.freedom, _USUAL) * np.sqrt(each.variance) for each in (clusters, sessions)]
    by_session = few & (half_widths[1] > half_widths[0])
    return Spread(
        clusters.difference,
        np.where(by_session, sessions.variance, clusters.variance),
        np.where(by_session, sessions.freedom, clusters.freedom),
    )


def _rest(below: Numbers) -> Numbers:
    total = below.sum(-1)[..., None]
    rest = total - below
    return np.where(rest > (1 - _LONGEST) * total, rest, np.nan)


def student_quantile(freedom: Numbers | float, risk: float) -> Numbers:
    """The two-sided quantile of Student's t: half of `risk` on each side."""
    return np.asarray(stdtrit(np.maximum(freedom, 1.0), 1 - risk / 2), dtype=float)


def p_value(difference: Numbers | float, error: Numbers | float, freedom: Numbers | float) -> Numbers:
    """The two-sided p-value of a difference by Student's t."""
    return np.asarray(2 * stdtr(np.maximum(freedom, 1.0), -np.abs(difference) / error), dtype=float)
