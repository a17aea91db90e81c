"""How many sessions a trial needs to detect a difference, from resampling the user's own sessions. Knows no plan and no clock.

Sessions are drawn with their clusters, shifted by the difference in one arm, and tested as the trial will be. The formula of
the delta method is given beside the simulation: the two should be close.
"""

from collections.abc import Iterable
from math import ceil, copysign, sqrt

import msgspec
import numpy as np
from scipy.special import ndtri
from scipy.stats import norm

from preheat.errors import UserError
from preheat.model.experiment import Observation
from preheat.model.experiment_report import SampleSize
from preheat.statistics.arms import (
    FEWEST_CLUSTERS,
    Codes,
    Numbers,
    Spread,
    compare_arms,
    jackknife_clusters,
    make_sample,
    measure_arm,
    student_quantile,
    widen_for_small_arms,
)

FEWEST_SESSIONS = 10
"""Sessions to draw from below which no plan is made."""
_AT_ONCE = 2_000_000
"""Sessions drawn at once: bounds the memory."""
_MOST = 50_000
"""Sessions above which no trial is simulated: it would take hours, and no person waits for that many."""
_IN_ALL = 8_000_000
"""Sessions drawn for one point of the curve: where each trial takes many, fewer trials are drawn."""
_FEWEST_DRAWS = 200
_STEPS = (0.5, 0.75, 1.0, 1.35, 1.8, 2.5)
"""Around the formula's count."""
_FURTHER = 2.0
"""The factor by which the count grows while the power is not reached in simulation."""


class Pool(msgspec.Struct, frozen=True):
    """The sessions that the simulation draws from."""

    above: Numbers
    below: Numbers
    cluster: Codes
    clusters: int
    counts: bool
    """Whether each value is a count out of a total."""

    @property
    def base(self) -> float:
        return float(self.above.sum() / self.below.sum())


def plan_sample_size(
    units: Iterable[Observation],
    *,
    effect: float,
    share: float = 0.5,
    power: float = 0.8,
    seed: int = 0,
    draws: int = 1000,
    risk: float = 0.05,
) -> SampleSize:
    """Sessions needed to detect a difference of `effect` with that power, if `share` of them get the arm. `units`: earlier
    sessions, none of them in a trial."""
    if not 0 < share < 1 or not 0 < power < 1 or not effect:
        raise UserError("a plan needs a share and a power between 0 and 1, and a difference other than 0")
    pool, remarks = make_pool(units)
    _require_possible(pool, effect)
    formula = sessions_by_formula(pool, effect, share, power, risk)
    if formula > _MOST:
        raise UserError(_too_many(pool, effect, share, power, risk))
    draws = min(draws, max(_FEWEST_DRAWS, _IN_ALL // formula))
    random = np.random.default_rng(seed)
    curve = _curve(pool, formula, effect, share, power, draws, random, risk)
    sessions = _crossing(curve[-len(_STEPS) :], power)
    in_arm = round(sessions * share)
    return SampleSize(
        effect,
        pool.base,
        power,
        sessions,
        (in_arm, sessions - in_arm),
        simulate_power(pool, sessions, effect, share, 2 * draws, random, risk),
        formula,
        tuple(curve),
        draws,
        (len(pool.above), pool.clusters),
        remarks,
    )


def find_possible_effect(units: Iterable[Observation], effect: float) -> float:
    """The effect, or its opposite where only that is possible (a share of 0.94 cannot rise by 0.1)."""
    pool, _ = make_pool(units)
    return -effect if not _has_room(pool, effect) and _has_room(pool, -effect) else effect


def _curve(
    pool: Pool,
    formula: int,
    effect: float,
    share: float,
    power: float,
    draws: int,
    random: np.random.Generator,
    risk: float,
) -> list[tuple[int, float]]:
    """Sessions and simulated power around the formula's count, and on until the power is reached."""
    counts = sorted({max(8, round(formula * step)) for step in _STEPS})
    curve = [(count, simulate_power(pool, count, effect, share, draws, random, risk)) for count in counts]
    while (last := curve[-1])[1] < power:
        if last[0] >= _MOST:
            raise UserError(
                f"not even {last[0]:,} sessions show a difference of {_format(abs(effect))} with {power:.0%} certainty (seen:"
                f" {last[1]:.0%}): sessions like these differ too much; plan for a larger one with --margin"
            )
        count = min(_MOST, ceil(last[0] * _FURTHER))
        fewer = min(draws, max(_FEWEST_DRAWS, _IN_ALL // count))
        curve.append((count, simulate_power(pool, count, effect, share, fewer, random, risk)))
    return curve


def make_pool(units: Iterable[Observation]) -> tuple[Pool, tuple[str, ...]]:
    """The sessions to draw from, whatever their arm."""
    same = [msgspec.structs.replace(each, arm="pool") for each in units]
    sample = make_sample(same, "pool", "")
    empty = len(same) - len(sample.above)
    if len(sample.above) < FEWEST_SESSIONS:
        others = f", and {empty:,} with nothing to count" if empty else ""
        raise UserError(
            f"a plan is drawn from {FEWEST_SESSIONS} earlier sessions or more, here are "
            f"{len(sample.above)}{others}; sync more first"
            f"{', or plan for another --metric' if empty else ''}"
        )
    counts = bool(
        ((sample.above >= 0) & (sample.above <= sample.below) & (sample.above % 1 == 0) & (sample.below % 1 == 0)).all()
    )
    clustered = FEWEST_CLUSTERS <= sample.clusters < len(sample.above)
    cluster = sample.cluster if clustered else np.arange(len(sample.above))
    remarks = (
        f"{empty:,} of {len(same):,} sessions had nothing to count; in a trial such sessions come on top of those that it needs",
    )
    return Pool(sample.above, sample.below, cluster, int(cluster.max()) + 1, counts), remarks if empty else ()


def sessions_by_formula(pool: Pool, effect: float, share: float, power: float, risk: float) -> int:
    """`((z + z') / effect)² · (v'/share + v/(1-share))`: v: variance of a session's linear value, v': with the effect."""
    length = float(pool.below.mean())
    variance = float(((pool.above - pool.base * pool.below) ** 2).mean()) / length**2
    kept, thinned = 1 + effect / pool.base if pool.base else 0.0, pool.base
    if pool.counts and effect > 0:
        kept, thinned = 1 - effect / (1 - pool.base), 1 - pool.base
    # As `shift_counts` does: each count is kept with one probability, which adds variance; other values are scaled.
    changed = kept**2 * variance + (kept * (1 - kept) * thinned / length if pool.counts else 0.0)
    errors = (float(ndtri(1 - risk / 2)) + float(ndtri(power))) / effect
    return max(8, ceil(errors**2 * (changed / share + variance / (1 - share))))


def simulate_power(
    pool: Pool, count: int, effect: float, share: float, draws: int, random: np.random.Generator, risk: float
) -> float:
    """The share of simulated trials of `count` sessions that find a difference on the right side."""
    hits = done = 0
    while done < draws:
        batch = max(1, min(draws - done, _AT_ONCE // count))
        spread = _trials(pool, batch, count, effect, share, random)
        with np.errstate(invalid="ignore"):
            errors = spread.difference / np.sqrt(spread.variance) * np.sign(effect)
            hits += int((errors > student_quantile(spread.freedom, risk)).sum())
        done += batch
    return hits / draws


def shift_counts(above: Numbers, below: Numbers, effect: float, base: float, random: np.random.Generator) -> Numbers:
    """Counts shifted by the effect: each one is dropped, or each of the others added, with one probability."""
    if effect < 0:
        return random.binomial(above.astype(np.int64), 1 + effect / base).astype(float)
    return above + random.binomial((below - above).astype(np.int64), effect / (1 - base))


def _trials(pool: Pool, batch: int, count: int, effect: float, share: float, random: np.random.Generator) -> Spread:
    places, clusters = _draw_sessions(pool, batch, count, random)
    above, below = pool.above[places], pool.below[places]
    treated = random.random((batch, count)) < share
    changed = shift_counts(above, below, effect, pool.base, random) if pool.counts else above * (1 + effect / pool.base)
    above = np.where(treated, changed, above)
    inside = treated.astype(float)
    sessions = compare_arms(measure_arm(above, below, inside), measure_arm(above, below, 1 - inside))
    if clusters is None:
        return sessions
    flat = (clusters + np.arange(batch)[:, None] * pool.clusters).ravel()
    sums = [
        np.bincount(flat, weights=(values * side).ravel(), minlength=batch * pool.clusters).reshape(
            batch, pool.clusters
        )
        for side in (inside, 1 - inside)
        for values in (above, below)
    ]
    smaller = np.minimum(inside.sum(-1), (1 - inside).sum(-1))
    return widen_for_small_arms(
        jackknife_clusters(*(np.asarray(each, dtype=float) for each in sums)), sessions, smaller
    )


def _draw_sessions(pool: Pool, batch: int, count: int, random: np.random.Generator) -> tuple[Codes, Codes | None]:
    """Indexes of drawn sessions and their drawn clusters: clusters are drawn with replacement, then sessions of those."""
    if pool.clusters == len(pool.above):
        return random.integers(0, len(pool.above), size=(batch, count)), None
    order = np.argsort(pool.cluster, kind="stable")
    sizes = np.bincount(pool.cluster, minlength=pool.clusters)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    chosen = random.integers(0, pool.clusters, size=(batch, pool.clusters))
    edges = np.cumsum(sizes[chosen], axis=1)
    points = random.random((batch, count)) * edges[:, -1:]
    slots = np.stack([np.searchsorted(edges[row], points[row], side="right") for row in range(batch)])
    slots = np.minimum(slots, pool.clusters - 1)
    real = np.take_along_axis(chosen, slots, axis=1)
    inside = (random.random((batch, count)) * sizes[real]).astype(np.int64)
    return order[starts[real] + inside], slots


def _has_room(pool: Pool, effect: float) -> bool:
    if pool.counts:
        return 0 <= pool.base + effect <= 1
    return pool.base > 0 and pool.base + effect >= 0


def _require_possible(pool: Pool, effect: float) -> None:
    if _has_room(pool, effect):
        return
    if not pool.counts and not pool.base:
        raise UserError("the metric is 0 in every session: there is nothing to draw a plan from; sync more first")
    rise = f"rise by {_format(1 - pool.base)}" if pool.counts else "rise"
    raise UserError(
        f"the metric is {_format(pool.base)}: it can fall by {_format(pool.base)} and {rise}, but not change by"
        f" {effect:+.4g}; plan for a smaller difference with --margin"
    )


def _too_many(pool: Pool, effect: float, share: float, power: float, risk: float) -> str:
    """The message for a trial that is too large: the sessions it needs, and the difference that the present number would show."""
    message = (
        f"to see a difference of {_format(abs(effect))} where the metric is {_format(pool.base)} would take about"
        f" {sessions_by_formula(pool, effect, share, power, risk):,} sessions; plan for a larger one with --margin"
    )
    most = pool.base if effect < 0 else 1 - pool.base if pool.counts else 100 * pool.base
    if sessions_by_formula(pool, copysign(most, effect), share, power, risk) > len(pool.above):
        return f"{message}; sessions differ so much in it that {len(pool.above):,} like these show none"
    shown, not_shown = most, abs(effect)
    for _ in range(40):
        middle = (shown + not_shown) / 2
        enough = sessions_by_formula(pool, copysign(middle, effect), share, power, risk) <= len(pool.above)
        shown, not_shown = (middle, not_shown) if enough else (shown, middle)
    return f"{message}: {len(pool.above):,} sessions like these show one of about {_format(float(f'{shown:.2g}'))}"


def _format(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def _crossing(curve: list[tuple[int, float]], power: float) -> int:
    """The count at which the power is reached: the normal score of the power is nearly linear in the root of the count."""
    roots = np.sqrt(np.array([count for count, _ in curve], dtype=float))
    scores = norm.ppf(np.clip(np.maximum.accumulate([seen for _, seen in curve]), 0.002, 0.998))
    inner = np.abs(scores) < norm.ppf(0.99)
    if inner.sum() < 2:
        inner[:] = True
    slope, start = np.polyfit(roots[inner], scores[inner], 1)
    if slope <= 0:
        return curve[-1][0]
    root = (float(norm.ppf(power)) - start) / slope
    sessions: int = ceil(max(sqrt(8.0), float(root)) ** 2)
    return sessions
