"""Two arms of a comparison as checked arrays, and the variance of the difference of their ratios.

Knows no estimate and no metric. A number that is none is refused; a session with nothing to count is left out with a remark. The
last axis is sessions (or clusters); axes before it are repetitions, so that a simulation is one call.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import isfinite
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr, stdtrit

from preheat.amounts import format_count
from preheat.errors import UserError
from preheat.model.experiment import Observation

# The sample.
Numbers: TypeAlias = npt.NDArray[np.float64]
Flags: TypeAlias = npt.NDArray[np.bool_]
Codes: TypeAlias = npt.NDArray[np.int64]

FEWEST_CLUSTERS = 5
"""With fewer clusters their variance is hardly known, and sessions are the unit if both arms are inside each cluster."""


class Sample(NamedTuple):
    """The sessions of two arms, in an order that does not depend on the input."""

    above: Numbers
    below: Numbers
    treated: Flags
    cluster: Codes
    """The number of each session's cluster; a session without one is a cluster of its own."""
    stratum: tuple[str, ...]
    before: Numbers
    """NaN where nothing is known from before."""
    at: Numbers
    clustered: bool
    """Whether clusters, not sessions, are the unit of the variance."""
    remarks: tuple[str, ...]
    """What a reader must know, a sentence each."""

    @property
    def units(self) -> tuple[int, int]:
        return int(self.treated.sum()), int((~self.treated).sum())

    @property
    def clusters(self) -> int:
        return int(self.cluster.max()) + 1 if len(self.cluster) else 0


def make_sample(units: Iterable[Observation], arm: str, against: str) -> Sample:
    """The sample of these two arms. Raises UserError for values that are no number, and for duplicate sessions."""
    if arm == against:
        raise UserError(f"an arm cannot be held against itself (`{arm}`); name two")
    chosen = sorted((each for each in units if each.arm in (arm, against)), key=_order)
    for each in chosen:
        _check(each)
    for one, other in pairwise(chosen):
        if one.session and one.session == other.session:
            raise UserError(f"session `{one.session}` stands in the comparison twice; give each session once")
    kept = [each for each in chosen if each.below > 0]
    remarks = _remark_on_empty_sessions(chosen, arm, against)
    clusters, clustered, cluster_remarks = _clusters(kept, arm)
    return Sample(
        np.array([each.above for each in kept], dtype=float),
        np.array([each.below for each in kept], dtype=float),
        np.array([each.arm == arm for each in kept], dtype=bool),
        clusters,
        tuple(each.stratum for each in kept),
        np.array([np.nan if each.before is None else each.before for each in kept], dtype=float),
        np.array([each.at for each in kept], dtype=float),
        clustered,
        remarks + cluster_remarks,
    )


def _order(each: Observation) -> tuple[str, str, float, float, str, str]:
    return (each.session, each.arm, each.above, each.below, each.cluster, each.stratum)


def _check(each: Observation) -> None:
    for value in (each.above, each.below, each.at, 0.0 if each.before is None else each.before):
        if not isfinite(value):
            raise UserError(
                f"session `{each.session}` has {value}, which is no number; measure it again or leave it out"
            )
    if each.below < 0:
        raise UserError(
            f"session `{each.session}` is measured over {each.below:g}, less than nothing; measure it again"
        )
    if each.below == 0 and each.above != 0:
        raise UserError(f"session `{each.session}` has {each.above:g} out of nothing; measure it again or leave it out")


def _remark_on_empty_sessions(chosen: Sequence[Observation], arm: str, against: str) -> tuple[str, ...]:
    empty = {name: sum(each.below == 0 for each in chosen if each.arm == name) for name in (arm, against)}
    return tuple(
        f"{format_count(count, 'session')} of `{name}` had nothing to count and {'is' if count == 1 else 'are'} left out"
        for name, count in empty.items()
        if count
    )


def _clusters(kept: Sequence[Observation], arm: str) -> tuple[Codes, bool, tuple[str, ...]]:
    """The numbers of the clusters, whether they are the unit, and a remark on that.

    Arms were assigned to sessions. Where clusters are few and each holds sessions of both arms, sessions are the unit and the
    result holds for these clusters; where a whole cluster is in one arm, clusters are the unit, however few there are."""
    names = [each.cluster or f"\0{number}" for number, each in enumerate(kept)]
    numbers = {name: number for number, name in enumerate(dict.fromkeys(sorted(names)))}
    codes = np.array([numbers[name] for name in names], dtype=np.int64)
    if len(numbers) == len(kept):
        return codes, False, ()
    arms: dict[str, set[bool]] = {}
    sizes: dict[str, int] = {}
    for name, each in zip(names, kept, strict=True):
        arms.setdefault(name, set()).add(each.arm == arm)
        sizes[name] = sizes.get(name, 0) + 1
    inside = all(len(arms[name]) == 2 for name in arms if sizes[name] > 3)
    if len(numbers) >= FEWEST_CLUSTERS or not inside:
        return codes, True, ()
    which = "one cluster" if len(numbers) == 1 else f"{len(numbers)} clusters"
    return codes, False, (f"all sessions are of {which}: the interval holds for those, not for others",)


# The variance of a difference of two ratios.
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
    """The difference of two arms with its variance and degrees of freedom."""

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
