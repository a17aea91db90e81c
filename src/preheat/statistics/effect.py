"""The difference of two arms in a metric `Σ above / Σ below`: delta method, bootstrap, adjustment, confidence sequence.

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

# By the delta method and by bootstrap.
RISK = 0.05
"""The probability that an interval misses the true difference."""
_TINY = 1e-18
"""Relative to the largest possible variance: a smaller one is rounding."""


def estimate_difference(
    units: Iterable[Observation], *, metric: str, arm: str, against: str, risk: float = RISK
) -> EffectEstimate:
    """Estimate `arm` minus `against`, with the interval of Student's t."""
    return estimate_from_sample(make_sample(units, arm, against), metric=metric, arm=arm, against=against, risk=risk)


def estimate_from_sample(sample: Sample, *, metric: str, arm: str, against: str, risk: float = RISK) -> EffectEstimate:
    """As `estimate_difference`, for a sample."""
    method = "delta method, by cluster" if sample.clustered else "delta method, by session"
    base, spread = _begin_estimate(sample, metric, arm, against, method, risk)
    if spread is None:
        return base
    return add_interval(
        base, float(spread.difference), sqrt(float(spread.variance)), float(spread.freedom), risk, sample, arm, against
    )


def add_interval(
    base: EffectEstimate,
    difference: float,
    error: float,
    freedom: float,
    risk: float,
    sample: Sample,
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
        remarks=base.remarks + _remark_on_equal_sessions(sample, arm, against),
    )


def measure_spread(sample: Sample) -> Spread:
    """The difference and its variance, by cluster or by session."""
    treated = sample.treated.astype(float)
    sessions = compare_arms(
        measure_arm(sample.above, sample.below, treated), measure_arm(sample.above, sample.below, 1 - treated)
    )
    if not sample.clustered:
        return sessions
    return widen_for_small_arms(jackknife_clusters(*sum_by_cluster(sample)), sessions, float(min(sample.units)))


def sum_by_cluster(sample: Sample) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """Sums of above and below in the arm and in the other, by cluster (by session where sessions are the unit)."""
    codes = sample.cluster if sample.clustered else np.arange(len(sample.above))
    count = int(codes.max()) + 1
    sides = (sample.treated, ~sample.treated)
    sums = [
        np.bincount(codes, weights=values * side, minlength=count).astype(float)
        for side in sides
        for values in (sample.above, sample.below)
    ]
    return sums[0], sums[1], sums[2], sums[3]


def _begin_estimate(
    sample: Sample, metric: str, arm: str, against: str, method: str, risk: float
) -> tuple[EffectEstimate, Spread | None]:
    """An estimate without an interval, and the variance to make one; without that the estimate is final."""
    base = _estimate_levels(sample, metric, arm, against, method)
    if base.why:
        return base, None
    spread = measure_spread(sample)
    if not float(spread.variance) > _TINY * _largest(sample):
        return _estimate_without_variance(sample, base, arm, against, risk), None
    return base, spread


def _estimate_levels(sample: Sample, metric: str, arm: str, against: str, method: str) -> EffectEstimate:
    """The estimate without a variance: the levels, and why a difference or a variance cannot be estimated."""
    one, other = sample.units
    level, base = _level(sample, True), _level(sample, False)
    empty = [name for name, count in ((arm, one), (against, other)) if not count]
    single = [name for name, count in ((arm, one), (against, other)) if count == 1]
    why = ""
    if empty:
        why = f"no session in {' and none in '.join(f'`{name}`' for name in empty)}"
    elif single:
        why = f"one session in {' and one in '.join(f'`{name}`' for name in single)}: a spread needs two"
    elif sample.clustered:
        why = _one_cluster_only(sample, arm, against)
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
        clusters=sample.clusters if sample.clustered else 0,
        remarks=sample.remarks,
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
    sample = make_sample(units, arm, against)
    method = f"bootstrap-t of {'clusters' if sample.clustered else 'sessions'}, {draws:,} draws"
    base, spread = _begin_estimate(sample, metric, arm, against, method, risk)
    if spread is None:
        return base
    values, lost = _resample(sample, float(spread.difference), draws, np.random.default_rng(seed))
    center, error = float(spread.difference), _draw_error(sample)
    remarks = base.remarks + _remark_on_equal_sessions(sample, arm, against)
    if lost > draws * RISK:
        remarks += (f"{lost:,} of {draws:,} draws had an arm without spread and do not count",)
    if len(values) < draws / 2:
        return replace_fields(
            base, difference=center, error=error, remarks=remarks, why="too little spread to draw from again"
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
        remarks=remarks,
    )


def replace_fields(base: EffectEstimate, **changes: object) -> EffectEstimate:
    """The estimate with these fields changed."""
    return msgspec.structs.replace(base, **changes)


def _resample(sample: Sample, center: float, draws: int, random: np.random.Generator) -> tuple[Numbers, int]:
    """Each draw's difference from the center in its own standard errors, and how many draws had no variance."""
    if sample.clustered:
        rows = np.stack(sum_by_cluster(sample), axis=-1)
        counts = random.multinomial(len(rows), np.full(len(rows), 1 / len(rows)), size=draws)
    else:
        rows = np.stack(
            [values * side for side in (sample.treated, ~sample.treated) for values in (sample.above, sample.below)],
            axis=-1,
        )
        counts = np.zeros((draws, len(rows)), dtype=np.int64)
        for side in (sample.treated, ~sample.treated):
            places = np.flatnonzero(side)
            counts[:, places] = random.multinomial(len(places), np.full(len(places), 1 / len(places)), size=draws)
    sums = counts @ rows
    squares = (counts @ (rows[:, :, None] * rows[:, None, :]).reshape(len(rows), 16)).reshape(draws, 4, 4)
    with np.errstate(divide="ignore", invalid="ignore"):
        one, other = sums[:, 0] / sums[:, 1], sums[:, 2] / sums[:, 3]
        slopes = np.stack([1 / sums[:, 1], -one / sums[:, 1], -1 / sums[:, 3], other / sums[:, 3]], axis=-1)
        variance = np.einsum("di,dij,dj->d", slopes, squares, slopes)
        values = (one - other - center) / np.sqrt(variance)
    good = np.isfinite(values) & (variance > _TINY * _largest(sample))
    return values[good], int((~good).sum())


def _draw_error(sample: Sample) -> float:
    """The standard error by the formula of the draws, so that both have the same bias."""
    one_above, one_below, other_above, other_below = sum_by_cluster(sample)
    one, other = one_above.sum() / one_below.sum(), other_above.sum() / other_below.sum()
    parts = (one_above - one * one_below) / one_below.sum() - (other_above - other * other_below) / other_below.sum()
    return sqrt(float((parts**2).sum()))


def _level(sample: Sample, treated: bool) -> float | None:
    inside = sample.treated == treated
    below = float(sample.below[inside].sum())
    return float(sample.above[inside].sum()) / below if below > 0 else None


def _largest(sample: Sample) -> float:
    """The square of the largest ratio: the scale of a variance."""
    return float((np.abs(sample.above) / sample.below).max() ** 2) or 1.0


def _one_cluster_only(sample: Sample, arm: str, against: str) -> str:
    for name, side in ((arm, sample.treated), (against, ~sample.treated)):
        if len(np.unique(sample.cluster[side])) == 1:
            return f"all sessions of `{name}` are of one cluster: a spread needs two"
    return ""


def _remark_on_equal_sessions(sample: Sample, arm: str, against: str) -> tuple[str, ...]:
    """A remark for each arm whose sessions all have the same value."""
    remarks = []
    for name, side in ((arm, sample.treated), (against, ~sample.treated)):
        values = sample.above[side] / sample.below[side]
        if float(np.ptp(values)) <= 1e-12 * max(1e-300, float(np.abs(values).max())):
            remarks.append(f"every session of `{name}` has the same value ({values[0]:g})")
    return tuple(remarks)


def _estimate_without_variance(
    sample: Sample, base: EffectEstimate, arm: str, against: str, risk: float
) -> EffectEstimate:
    """The estimate where no session differs from another of its arm. For shares each session is one trial (Wilson's intervals,
    joined by Newcombe); for other numbers there is no interval."""
    remarks = base.remarks + _remark_on_equal_sessions(sample, arm, against)
    one, other = sample.units
    level, against_level = base.level, base.base
    shares = bool(((sample.above >= 0) & (sample.above <= sample.below)).all())
    if not shares or level is None or against_level is None or sample.clustered:
        return replace_fields(
            base, remarks=remarks, why="no session differs from another of its arm: there is no spread to measure by"
        )
    deviations = float(ndtri(1 - risk / 2))
    low_one, high_one = wilson(level * one, one, deviations)
    low_other, high_other = wilson(against_level * other, other, deviations)
    gap = level - against_level
    return replace_fields(
        base,
        low=gap - sqrt((level - low_one) ** 2 + (high_other - against_level) ** 2),
        high=gap + sqrt((high_one - level) ** 2 + (against_level - low_other) ** 2),
        remarks=remarks,
        method="Wilson's intervals, each session one trial",
    )


# Adjusted for what was known before the trial (CUPED).
SESSIONS_PER_SLOPE = 10
"""Sessions in the smaller arm for each slope: with fewer, estimating slopes costs more than it gains."""
_FEWEST_IN_STRATUM = 4
"""Sessions of each arm that a stratum needs for a column of its own."""


def adjust_difference(
    units: Iterable[Observation], *, metric: str, arm: str, against: str, risk: float = RISK
) -> EffectEstimate:
    """The difference, adjusted for `before` and for strata where possible; else the plain one, and why."""
    sample = make_sample(units, arm, against)
    plain = estimate_from_sample(sample, metric=metric, arm=arm, against=against, risk=risk)
    if plain.error is None or plain.difference is None:
        return plain
    columns, remarks = baseline_columns(sample)
    if not columns.shape[1]:
        return replace_fields(plain, remarks=plain.remarks + remarks)
    difference, spread = _adjust(sample, columns)
    base = replace_fields(plain, remarks=sample.remarks + remarks, adjusted=True, method=plain.method + ", adjusted")
    return add_interval(
        base, difference, sqrt(float(spread.variance)), float(spread.freedom), risk, sample, arm, against
    )


def baseline_columns(sample: Sample) -> tuple[Numbers, tuple[str, ...]]:
    """Columns that no arm can have changed, as many as the smaller arm allows: the metric from before, whether it is missing, the
    larger strata; and remarks on them."""
    most = min(sample.units) // SESSIONS_PER_SLOPE
    columns: list[Numbers] = []
    remarks: list[str] = []
    missing = np.isnan(sample.before)
    if missing.all():
        remarks.append("nothing is known from before the trial")
    elif np.ptp(sample.before[~missing]) <= 1e-12 * float(np.abs(sample.before[~missing]).max()):
        remarks.append("what is known from before the trial is the same for all sessions")
    else:
        columns.append(np.where(missing, sample.before[~missing].mean(), sample.before))
    if missing.any() and not missing.all():
        number = int(missing.sum())
        have, count = ("has", "counts") if number == 1 else ("have", "count")
        remarks.append(
            f"{format_count(number, 'session')} {have} nothing from before the trial and {count} with the mean"
        )
        columns.append(missing.astype(float))
    columns += _strata(sample)
    if len(columns) > most:
        remarks.append(
            f"{len(columns) - most} of {format_count(len(columns), 'column')} not adjusted for: too few sessions"
        )
    columns = columns[:most]
    return (np.stack(columns, axis=-1) if columns else np.empty((len(sample.above), 0))), tuple(remarks)


def _strata(sample: Sample) -> list[Numbers]:
    """A column for each stratum with enough sessions of both arms, the largest first; the others are the reference."""
    sizes = Counter(sample.stratum)
    names = np.array(sample.stratum, dtype=object)
    columns = []
    for name, size in sorted(sizes.items(), key=lambda each: (-each[1], each[0])):
        inside = np.asarray(names == name, dtype=bool)
        in_arm = int((inside & sample.treated).sum())
        if min(in_arm, size - in_arm) >= _FEWEST_IN_STRATUM and size < len(names):
            columns.append(inside.astype(float))
    # If they cover all sessions, the last column follows from the others.
    if columns and float(sum(column.sum() for column in columns)) == len(names):
        columns.pop()
    return columns


def _adjust(sample: Sample, columns: Numbers) -> tuple[float, Spread]:
    sides = (sample.treated, ~sample.treated)
    linear = np.zeros(len(sample.above))
    centered = np.zeros_like(columns)
    weights = np.zeros(len(sample.above))
    ratios, means, counts = [], [], []
    for side in sides:
        above, below, count = sample.above[side], sample.below[side], int(side.sum())
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
        _arm(ratio, residuals[side], sample.below[side], columns.shape[1])
        for ratio, side in zip(ratios, sides, strict=True)
    ]
    spread = compare_arms(*arms)
    if sample.clustered:
        signed = residuals * np.where(sample.treated, 1 / counts[0], -1 / counts[1])
        spread = widen_for_small_arms(_by_cluster(sample, signed, columns.shape[1]), spread, float(min(sample.units)))
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


def _by_cluster(sample: Sample, signed: Numbers, slopes: int) -> Spread:
    sums = np.bincount(sample.cluster, weights=signed, minlength=sample.clusters)
    count, sessions = sample.clusters, len(signed)
    variance = count / (count - 1) * (sessions - 1) / (sessions - 1 - slopes) * float((sums**2).sum())
    return Spread(np.asarray(0.0), np.asarray(variance), np.asarray(float(count - 1)))


# Always-valid intervals, which hold after every session (a confidence sequence).
BURN_IN = 10
"""Sessions in each arm before which there is no always-valid interval."""
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
