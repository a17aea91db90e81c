"""The difference of two arms, adjusted for what was known before the trial (CUPED). Knows nothing that an arm can change.

The ratio is made linear, `L = (above - R·below) / mean below` in each arm, and regressed with one slope for both arms: the one
that minimises the estimated variance of the difference (least squares, each arm weighted by one over its size squared). With
large arms that is as precise as Lin's regression with interactions, with half as many slopes to estimate.
"""

from collections import Counter
from collections.abc import Iterable
from math import sqrt

import numpy as np

from preheat.amounts import format_count
from preheat.model.experiment import EffectEstimate, Observation
from preheat.statistics.ratio import RISK, add_interval, estimate_from_sample, replace_fields
from preheat.statistics.sample import Numbers, Sample, make_sample
from preheat.statistics.spread import Arm, Spread, compare_arms, widen_for_small_arms

SESSIONS_PER_SLOPE = 10
"""Sessions in the smaller arm for each slope: with fewer, estimating slopes costs more than it gains."""
_FEWEST_IN_STRATUM = 4
"""Sessions of each arm that a stratum needs for a column of its own."""


def adjust_difference(
    units: Iterable[Observation], *, metric: str, arm: str, against: str, risk: float = RISK
) -> EffectEstimate:
    """The difference, adjusted for `before` and for strata where possible; else the plain one, and why."""
    found = make_sample(units, arm, against)
    plain = estimate_from_sample(found, metric=metric, arm=arm, against=against, risk=risk)
    if plain.error is None or plain.difference is None:
        return plain
    columns, remarks = baseline_columns(found)
    if not columns.shape[1]:
        return replace_fields(plain, named=plain.remarks + remarks)
    difference, spread = _adjust(found, columns)
    base = replace_fields(plain, named=found.remarks + remarks, adjusted=True, method=plain.method + ", adjusted")
    return add_interval(
        base, difference, sqrt(float(spread.variance)), float(spread.freedom), risk, found, arm, against
    )


def baseline_columns(found: Sample) -> tuple[Numbers, tuple[str, ...]]:
    """Columns that no arm can have changed, as many as the smaller arm allows: the metric from before, whether it is missing, the
    larger strata; and remarks on them."""
    most = min(found.units) // SESSIONS_PER_SLOPE
    columns: list[Numbers] = []
    remarks: list[str] = []
    missing = np.isnan(found.before)
    if missing.all():
        remarks.append("nothing is known from before the trial")
    elif np.ptp(found.before[~missing]) <= 1e-12 * float(np.abs(found.before[~missing]).max()):
        remarks.append("what is known from before the trial is the same for all sessions")
    else:
        columns.append(np.where(missing, found.before[~missing].mean(), found.before))
    if missing.any() and not missing.all():
        number = int(missing.sum())
        have, count = ("has", "counts") if number == 1 else ("have", "count")
        remarks.append(
            f"{format_count(number, 'session')} {have} nothing from before the trial and {count} with the mean"
        )
        columns.append(missing.astype(float))
    columns += _strata(found)
    if len(columns) > most:
        remarks.append(
            f"{len(columns) - most} of {format_count(len(columns), 'column')} not adjusted for: too few sessions"
        )
    columns = columns[:most]
    return (np.stack(columns, axis=-1) if columns else np.empty((len(found.above), 0))), tuple(remarks)


def _strata(found: Sample) -> list[Numbers]:
    """A column for each stratum with enough sessions of both arms, the largest first; the others are the reference."""
    sizes = Counter(found.stratum)
    names = np.array(found.stratum, dtype=object)
    columns = []
    for name, size in sorted(sizes.items(), key=lambda each: (-each[1], each[0])):
        inside = np.asarray(names == name, dtype=bool)
        in_arm = int((inside & found.treated).sum())
        if min(in_arm, size - in_arm) >= _FEWEST_IN_STRATUM and size < len(names):
            columns.append(inside.astype(float))
    # If they cover all sessions, the last column follows from the others.
    if columns and float(sum(column.sum() for column in columns)) == len(names):
        columns.pop()
    return columns


def _adjust(found: Sample, columns: Numbers) -> tuple[float, Spread]:
    sides = (found.treated, ~found.treated)
    linear = np.zeros(len(found.above))
    centered = np.zeros_like(columns)
    weights = np.zeros(len(found.above))
    ratios, means, counts = [], [], []
    for side in sides:
        above, below, count = found.above[side], found.below[side], int(side.sum())
        ratio = float(above.sum() / below.sum())
        linear[side] = (above - ratio * below) / below.mean()
        mean = columns[side].mean(0)
        centered[side] = columns[side] - mean
        weights[side] = 1 / count
        ratios.append(ratio)
        means.append(mean)
        counts.append(count)
    scale = np.where(centered.std(0) > 0, centered.std(0), 1.0)
    slopes = np.linalg.lstsq(centered / scale * weights[:, None], linear * weights, rcond=1e-10)[0] / scale
    residuals = linear - centered @ slopes
    difference = ratios[0] - ratios[1] - float((means[0] - means[1]) @ slopes)
    arms = [
        _arm(ratio, residuals[side], found.below[side], columns.shape[1])
        for ratio, side in zip(ratios, sides, strict=True)
    ]
    spread = compare_arms(*arms)
    if found.clustered:
        signed = residuals * np.where(found.treated, 1 / counts[0], -1 / counts[1])
        spread = widen_for_small_arms(_by_cluster(found, signed, columns.shape[1]), spread, float(min(found.units)))
    return difference, spread


def _arm(ratio: float, residuals: Numbers, below: Numbers, slopes: int) -> Arm:
    """An arm's variance from the residuals; each slope costs a degree of freedom."""
    count = len(below)
    lost = (count - 1 - slopes) / (count - 1)
    leverage = below / below.sum()
    squares = leverage**2
    variance = float((residuals**2 / (1 - leverage)).sum()) / count**2 / lost
    share = float(squares.sum())
    freedom = sqrt((1 / share - 1) * (share**2 / float((squares**2).sum()) - 1)) * lost
    values = [np.asarray(value) for value in (ratio, variance, freedom, share)]
    return Arm(*values)


def _by_cluster(found: Sample, signed: Numbers, slopes: int) -> Spread:
    sums = np.bincount(found.cluster, weights=signed, minlength=found.clusters)
    count, sessions = found.clusters, len(signed)
    variance = count / (count - 1) * (sessions - 1) / (sessions - 1 - slopes) * float((sums**2).sum())
    return Spread(np.asarray(0.0), np.asarray(variance), np.asarray(float(count - 1)))
