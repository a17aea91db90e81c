"""The difference of two arms in a metric `Σ numerator / Σ denominator`: delta method, bootstrap, adjustment, confidence sequence.

Knows no plan and no sentence. Calls of one session are alike, so the session is the unit, or the cluster above it.

Adjustment (CUPED) takes out what was known before the trial with one slope for both arms, the one that makes the estimated
variance of the difference least.

An always-valid interval (Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas 2021) is, for n influence values with standard error s,

    mean ± s · sqrt( 2 (nρ² + 1) / (nρ²) · log( sqrt(nρ² + 1) / risk ) )

with ρ² = (-2 log risk + log(1 - 2 log risk)) / horizon; the normal tail is replaced by Student's, and nothing is said before
`BURN_IN` sessions in each arm.
"""

from collections import Counter
from collections.abc import Iterable
from math import log, sqrt

import msgspec
import numpy as np
from scipy.special import log_ndtr, ndtri, stdtrit

from preheat.amounts import format_count
from preheat.model.experiment import EffectEstimate, Observation
from preheat.statistics.arms import (
    Arm,
    Numbers,
    Sample,
    Spread,
    compare_arms,
    jackknife_clusters,
    make_sample,
    measure_arm,
    p_value,
    student_quantile,
    widen_for_small_arms,
)
from preheat.statistics.shares import wilson

# The difference of two arms in a metric `Σ above / Σ below`, by the delta method and by bootstrap.
RISK = 0.05
_TINY = 1e-18
"""Relative to the largest possible variance: a smaller one is rounding."""


def estimate_difference(
    units: Iterable[Observation], *, metric: str, arm: str, against: str, risk: float = RISK
) -> EffectEstimate:
    """Estimate `arm` minus `against`, with the interval of Student's t."""
    return estimate_from_sample(make_sample(units, arm, against), metric=metric, arm=arm, against=against, risk=risk)


def estimate_from_sample(found: Sample, *, metric: str, arm: str, against: str, risk: float = RISK) -> EffectEstimate:
    """As `estimate_difference`, for a sample."""
    method = "delta method, by cluster" if found.clustered else "delta method, by session"
    base, spread = _begin_estimate(found, metric, arm, against, method, risk)
    if spread is None:
        return base
    return add_interval(
        base, float(spread.difference), sqrt(float(spread.variance)), float(spread.freedom), risk, found, arm, against
    )


def add_interval(
    base: EffectEstimate,
    difference: float,
    error: float,
    freedom: float,
    risk: float,
    found: Sample,
    arm: str,
    against: str,
) -> EffectEstimate:
    """The estimate with Student's interval around this difference, and a remark on an arm without variance."""
    reach = float(student_quantile(freedom, risk)) * error
    return replace_fields(
        base,
        difference=difference,
        low=difference - reach,
        high=difference + reach,
        p=float(p_value(difference, error, freedom)),
        error=error,
        freedom=freedom,
        remarks=base.remarks + _remark_on_equal_sessions(found, arm, against),
    )


def measure_spread(found: Sample) -> Spread:
    """The difference and its variance, by cluster or by session."""
    treated = found.treated.astype(float)
    sessions = compare_arms(
        measure_arm(found.above, found.below, treated), measure_arm(found.above, found.below, 1 - treated)
    )
    if not found.clustered:
        return sessions
    return widen_for_small_arms(jackknife_clusters(*sum_by_cluster(found)), sessions, float(min(found.units)))


def sum_by_cluster(found: Sample) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """Sums of above and below in the arm and in the other, by cluster (by session where sessions are the unit)."""
    codes = found.cluster if found.clustered else np.arange(len(found.above))
    count = int(codes.max()) + 1
    sides = (found.treated, ~found.treated)
    sums = [
        np.bincount(codes, weights=values * side, minlength=count).astype(float)
        for side in sides
        for values in (found.above, found.below)
    ]
    return sums[0], sums[1], sums[2], sums[3]


def _begin_estimate(
    found: Sample, metric: str, arm: str, against: str, method: str, risk: float
) -> tuple[EffectEstimate, Spread | None]:
    """An estimate without an interval, and the variance to make one; without that the estimate is final."""
    base = _estimate_levels(found, metric, arm, against, method)
    if base.why:
        return base, None
    spread = measure_spread(found)
    if not float(spread.variance) > _TINY * _largest(found):
        return _estimate_without_variance(found, base, arm, against, risk), None
    return base, spread


def _estimate_levels(found: Sample, metric: str, arm: str, against: str, method: str) -> EffectEstimate:
    """The estimate without a variance: the levels, and why a difference or a variance cannot be estimated."""
    one, other = found.units
    level, base = _level(found, True), _level(found, False)
    empty = [name for name, count in ((arm, one), (against, other)) if not count]
    single = [name for name, count in ((arm, one), (against, other)) if count == 1]
    why = ""
    if empty:
        why = f"no session in {' and none in '.join(f'`{name}`' for name in empty)}"
    elif single:
        why = f"one session in {' and one in '.join(f'`{name}`' for name in single)}: a spread needs two"
    elif found.clustered:
        why = _one_cluster_only(found, arm, against)
    return EffectEstimate(
        metric=metric,
        arm=arm,
        against=against,
        units=(one, other),
        level=level,
        base=base,
        difference=None if level is None or base is None else level - base,
        method=method,
        why=why,
        clusters=found.clusters if found.clustered else 0,
        remarks=found.remarks,
    )


def bootstrap_difference(
    units: Iterable[Observation],
    *,
    metric: str,
    arm: str,
    against: str,
    seed: int,
    draws: int = 2000,
    risk: float = RISK,
) -> EffectEstimate:
    """Estimate the difference with an interval from resampling sessions (or clusters), each draw in its own standard errors
    (bootstrap-t), which allows for skew."""
    found = make_sample(units, arm, against)
    method = f"bootstrap-t of {'clusters' if found.clustered else 'sessions'}, {draws:,} draws"
    base, spread = _begin_estimate(found, metric, arm, against, method, risk)
    if spread is None:
        return base
    values, lost = _resample(found, float(spread.difference), draws, np.random.default_rng(seed))
    center, error = float(spread.difference), _draw_error(found)
    named = base.remarks + _remark_on_equal_sessions(found, arm, against)
    if lost > draws * RISK:
        named += (f"{lost:,} of {draws:,} draws had an arm without spread and do not count",)
    if len(values) < draws / 2:
        return replace_fields(
            base, difference=center, error=error, remarks=named, why="too little spread to draw from again"
        )
    low, high = np.quantile(values, [risk / 2, 1 - risk / 2])
    below = float((values <= center / error).mean())
    return replace_fields(
        base,
        difference=center,
        low=min(center, center - error * float(high)),
        high=max(center, center - error * float(low)),
        p=max(1 / draws, 2 * min(below, 1 - below)),
        error=error,
        remarks=named,
    )


def replace_fields(base: EffectEstimate, **changes: object) -> EffectEstimate:
    return msgspec.structs.replace(base, **changes)


def _resample(found: Sample, center: float, draws: int, random: np.random.Generator) -> tuple[Numbers, int]:
    """Each draw's difference from the center in its own standard errors, and how many draws had no variance."""
    if found.clustered:
        rows = np.stack(sum_by_cluster(found), axis=-1)
        counts = random.multinomial(len(rows), np.full(len(rows), 1 / len(rows)), size=draws)
    else:
        rows = np.stack(
            [values * side for side in (found.treated, ~found.treated) for values in (found.above, found.below)],
            axis=-1,
        )
        counts = np.zeros((draws, len(rows)), dtype=np.int64)
        for side in (found.treated, ~found.treated):
            places = np.flatnonzero(side)
            counts[:, places] = random.multinomial(len(places), np.full(len(places), 1 / len(places)), size=draws)
    sums = counts @ rows
    squares = (counts @ (rows[:, :, None] * rows[:, None, :]).reshape(len(rows), 16)).reshape(draws, 4, 4)
    with np.errstate(divide="ignore", invalid="ignore"):
        one, other = sums[:, 0] / sums[:, 1], sums[:, 2] / sums[:, 3]
        slopes = np.stack([1 / sums[:, 1], -one / sums[:, 1], -1 / sums[:, 3], other / sums[:, 3]], axis=-1)
        variance = np.einsum("di,dij,dj->d", slopes, squares, slopes)
        values = (one - other - center) / np.sqrt(variance)
    good = np.isfinite(values) & (variance > _TINY * _largest(found))
    return values[good], int((~good).sum())


def _draw_error(found: Sample) -> float:
    """The standard error by the formula of the draws, so that both have the same bias."""
    one_above, one_below, other_above, other_below = sum_by_cluster(found)
    one, other = one_above.sum() / one_below.sum(), other_above.sum() / other_below.sum()
    parts = (one_above - one * one_below) / one_below.sum() - (other_above - other * other_below) / other_below.sum()
    return sqrt(float((parts**2).sum()))


def _level(found: Sample, treated: bool) -> float | None:
    inside = found.treated == treated
    below = float(found.below[inside].sum())
    return float(found.above[inside].sum()) / below if below > 0 else None


def _largest(found: Sample) -> float:
    """The square of the largest ratio: the scale of a variance."""
    return float((np.abs(found.above) / found.below).max() ** 2) or 1.0


def _one_cluster_only(found: Sample, arm: str, against: str) -> str:
    for name, side in ((arm, found.treated), (against, ~found.treated)):
        if len(np.unique(found.cluster[side])) == 1:
            return f"all sessions of `{name}` are of one cluster: a spread needs two"
    return ""


def _remark_on_equal_sessions(found: Sample, arm: str, against: str) -> tuple[str, ...]:
    """A remark for each arm whose sessions all have the same value."""
    remarks = []
    for name, side in ((arm, found.treated), (against, ~found.treated)):
        values = found.above[side] / found.below[side]
        if float(np.ptp(values)) <= 1e-12 * max(1e-300, float(np.abs(values).max())):
            remarks.append(f"every session of `{name}` has the same value ({values[0]:g})")
    return tuple(remarks)


def _estimate_without_variance(
    found: Sample, base: EffectEstimate, arm: str, against: str, risk: float
) -> EffectEstimate:
    """The estimate where no session differs from another of its arm. For shares each session is one trial (Wilson's intervals,
    joined by Newcombe); for other numbers there is no interval."""
    named = base.remarks + _remark_on_equal_sessions(found, arm, against)
    one, other = found.units
    level, against_level = base.level, base.base
    shares = bool(((found.above >= 0) & (found.above <= found.below)).all())
    if not shares or level is None or against_level is None or found.clustered:
        return replace_fields(
            base, remarks=named, why="no session differs from another of its arm: there is no spread to measure by"
        )
    deviations = float(ndtri(1 - risk / 2))
    low_one, high_one = wilson(level * one, one, deviations)
    low_other, high_other = wilson(against_level * other, other, deviations)
    gap = level - against_level
    return replace_fields(
        base,
        low=gap - sqrt((level - low_one) ** 2 + (high_other - against_level) ** 2),
        high=gap + sqrt((high_one - level) ** 2 + (against_level - low_other) ** 2),
        remarks=named,
        method="Wilson's intervals, each session one trial",
    )


# The difference of two arms, adjusted for what was known before the trial (CUPED).
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
        return replace_fields(plain, remarks=plain.remarks + remarks)
    difference, spread = _adjust(found, columns)
    base = replace_fields(plain, remarks=found.remarks + remarks, adjusted=True, method=plain.method + ", adjusted")
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


# Always-valid intervals, which hold after every session (a confidence sequence).
BURN_IN = 10
HORIZON = 200
"""Sessions at which the interval is narrowest if no end is planned. An error by a factor of four costs less than a tenth of the
width."""


def always_valid_errors(
    count: Numbers | float, freedom: Numbers | float, *, horizon: float = HORIZON, risk: float = RISK
) -> Numbers:
    """The half-width of the always-valid interval in standard errors."""
    scale = (-2 * log(risk) + log(1 - 2 * log(risk))) / horizon
    grown = np.asarray(count, dtype=float) * scale
    normal = np.sqrt((grown + 1) / grown * (np.log1p(grown) - 2 * log(risk)))
    return np.asarray(-stdtrit(np.maximum(freedom, 1.0), np.exp(log_ndtr(-normal))), dtype=float)


def add_always_valid_interval(
    estimate: EffectEstimate, *, horizon: float = HORIZON, risk: float = RISK
) -> EffectEstimate:
    """The estimate with its always-valid interval; with a remark instead where it is too early."""
    if estimate.difference is None or estimate.error is None or estimate.freedom is None:
        return estimate
    if min(estimate.units) < BURN_IN:
        early = f"too early for an interval that holds at every look: it needs {BURN_IN} sessions in each arm"
        return msgspec.structs.replace(estimate, remarks=(*estimate.remarks, early))
    reach = estimate.error * float(
        always_valid_errors(float(sum(estimate.units)), estimate.freedom, horizon=horizon, risk=risk)
    )
    return msgspec.structs.replace(
        estimate, always_low=estimate.difference - reach, always_high=estimate.difference + reach
    )
