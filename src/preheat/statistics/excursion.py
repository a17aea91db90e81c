"""The effect of an advisory on the calls right after it (causal excursion effect), from withholding it at random.

Knows moments, no advice. Weighted and centred least squares (Boruvka and others 2018): with A = 1 where it was given, p its
probability and p̃ the mean of p, weights `(p̃/p)^A ((1-p̃)/(1-p))^(1-A)` and the regression of the outcome on what was known before
and on `A - p̃`. The slope of the last is the effect, even if the rest of the model is wrong. Moments of one session are alike: the
variance is a sandwich over sessions, with residuals corrected for leverage (Mancl and DeRouen).
"""

from collections.abc import Iterable, Sequence
from math import isfinite, sqrt
from typing import NamedTuple

import numpy as np

from preheat.amounts import format_count
from preheat.errors import UserError
from preheat.model.experiment import EffectEstimate
from preheat.statistics.arms import Codes, Numbers, p_value, student_quantile
from preheat.statistics.effect import RISK, replace_fields

FEWEST_SESSIONS = 10
"""Sessions below which nothing is estimated."""
_LOPSIDED = 0.01


class AdviceMoment(NamedTuple):
    """One advisory that was given or withheld at random."""

    session: str
    was_given: bool
    probability: float
    """Of being given, at that time."""
    outcome: float
    """What followed, such as the failures in the next calls."""
    before: tuple[float, ...] = ()
    """What was known at that time: failures so far, the turn."""


class WeightedFit(NamedTuple):
    """A weighted least-squares fit with its covariance over clusters."""

    coefficients: Numbers
    covariance: Numbers
    plain: Numbers
    """The covariance without any correction for few clusters."""


def estimate_excursion(moments: Iterable[AdviceMoment], *, metric: str, risk: float = RISK) -> EffectEstimate:
    """Estimate given minus withheld, in the unit of the outcome."""
    kept, remarks = _select_randomised(moments)
    given = sum(each.was_given for each in kept)
    sessions = sorted({each.session for each in kept})
    base = EffectEstimate(
        metric=metric,
        arm="given",
        against="withheld",
        units=(given, len(kept) - given),
        level=_mean([each.outcome for each in kept if each.was_given]),
        base=_mean([each.outcome for each in kept if not each.was_given]),
        method="weighted and centred least squares, by session",
        clusters=len(sessions),
        remarks=remarks,
    )
    if not given or given == len(kept):
        return replace_fields(base, why=f"no advisory was {'withheld' if given else 'given'} at random")
    numbers = {session: number for number, session in enumerate(sessions)}
    design, weights, outcome = _design(kept)
    columns = design.shape[1]
    # The rarer of the two limits the precision.
    rarest = min(len({each.session for each in kept if each.was_given == side}) for side in (True, False))
    if len(sessions) < FEWEST_SESSIONS:
        return replace_fields(
            base, why=f"advisories in {format_count(len(sessions), 'session')}: {FEWEST_SESSIONS} are needed"
        )
    if rarest < columns + 2:
        return replace_fields(
            base, why=f"given or withheld in {format_count(rarest, 'session')} only: {columns + 2} are needed"
        )
    fit = fit_weighted(design, outcome, weights, np.array([numbers[each.session] for each in kept], dtype=np.int64))
    effect, variance = float(fit.coefficients[-1]), float(fit.covariance[-1, -1])
    if not variance > 1e-18 * max(1e-300, float(np.abs(outcome).max()) ** 2):
        return replace_fields(
            base, difference=effect, why="no moment differs from another: there is no spread to measure by"
        )
    freedom = float(rarest - columns)
    reach = float(student_quantile(freedom, risk)) * sqrt(variance)
    return replace_fields(
        base,
        difference=effect,
        low=effect - reach,
        high=effect + reach,
        p=float(p_value(effect, sqrt(variance), freedom)),
        error=sqrt(variance),
        freedom=freedom,
        adjusted=columns > 2,
    )


def fit_weighted(design: Numbers, outcome: Numbers, weights: Numbers, cluster: Codes) -> WeightedFit:
    """Weighted least squares with the sandwich over clusters."""
    weighted = design * weights[:, None]
    inner = design.T @ weighted
    bread = np.linalg.inv(inner)
    coefficients = bread @ (weighted.T @ outcome)
    residuals = outcome - design @ coefficients
    count, columns = int(cluster.max()) + 1, design.shape[1]
    scores = np.zeros((count, columns))
    np.add.at(scores, cluster, weighted * residuals[:, None])
    pulls = np.zeros((count, columns, columns))
    np.add.at(pulls, cluster, design[:, :, None] * weighted[:, None, :])
    # (I - H)^-1 of a cluster's residuals, computed in the space of the columns: small matrices however long the session.
    corrected = scores + np.einsum("gij,gj->gi", pulls, np.linalg.solve(inner - pulls, scores[:, :, None])[:, :, 0])
    return WeightedFit(coefficients, bread @ (corrected.T @ corrected) @ bread, bread @ (scores.T @ scores) @ bread)


def _select_randomised(moments: Iterable[AdviceMoment]) -> tuple[list[AdviceMoment], tuple[str, ...]]:
    kept, lopsided, widths = [], 0, set()
    for each in moments:
        if not all(isfinite(value) for value in (each.probability, each.outcome, *each.before)):
            raise UserError(f"an advisory in session `{each.session}` has a value that is no number; measure it again")
        if not _LOPSIDED <= each.probability <= 1 - _LOPSIDED:
            lopsided += 1
            continue
        widths.add(len(each.before))
        kept.append(each)
    if len(widths) > 1:
        raise UserError("advisories differ in how much is known before them; give each the same columns")
    number = format_count(lopsided, "advisory", "advisories")
    remark = f"{number} without a random choice (probability near 0 or 1) left out"
    return sorted(kept), (remark,) if lopsided else ()


def _design(kept: Sequence[AdviceMoment]) -> tuple[Numbers, Numbers, Numbers]:
    given = np.array([each.was_given for each in kept], dtype=float)
    probability = np.array([each.probability for each in kept])
    center = float(probability.mean())
    weights = np.where(given > 0, center / probability, (1 - center) / (1 - probability))
    before = np.array([each.before for each in kept], dtype=float).reshape(len(kept), -1)
    before = before - before.mean(0)
    informative = before[:, before.std(0) > 1e-12 * (1 + np.abs(before).max(0, initial=0.0))]
    # A column that depends on the others would make the solution ambiguous.
    informative = _independent(informative)
    design = np.column_stack([np.ones(len(kept)), informative, given - center])
    return design, weights, np.array([each.outcome for each in kept])


def _independent(columns: Numbers) -> Numbers:
    kept: list[Numbers] = []
    for place in range(columns.shape[1]):
        tried = np.column_stack([*kept, columns[:, place] / columns[:, place].std()])
        if np.linalg.matrix_rank(tried, tol=1e-8 * len(columns) ** 0.5) == tried.shape[1]:
            kept.append(tried[:, -1])
    return np.column_stack(kept) if kept else np.empty((len(columns), 0))


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None
