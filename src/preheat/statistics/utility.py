"""The utility of each lesson of a warm start, from withholding it at random. Knows exposures and measures, no lesson.

A lesson's own effect is `R(shown) - R(withheld)`, sessions weighted by the inverse probability of what they got (as in
`lessons.effectiveness`, which has no correction for long sessions; a test compares the two). With many lessons and few sessions
the most extreme effects are mostly luck: each is shrunk towards the mean of all, the more the larger its error is against the
spread between lessons (normal-normal model). That spread is estimated from the same data and averaged over.
"""

from collections.abc import Iterable
from math import sqrt
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from preheat.model.experiment import EffectVerdict, Exposure, MeasuredSession
from preheat.model.experiment_report import LessonUtility
from preheat.statistics.arms import Numbers, compare_arms, measure_arm, p_value, student_quantile
from preheat.statistics.effect import always_valid_errors
from preheat.statistics.exposures import FEWEST_SESSIONS, first_exposures
from preheat.statistics.shares import benjamini_hochberg

_RISK = 0.05
_GRID = 200


def estimate_utilities(
    exposures: Iterable[Exposure],
    measured: Iterable[MeasuredSession],
    *,
    margin: float,
    risk: float = _RISK,
    always: bool = False,
) -> list[LessonUtility]:
    """The utility of each item that was ever withheld at random, by its name; `always`: with always-valid intervals."""
    measured_by_session = {
        each.session: each for each in measured if each.calls > 0 and 0 <= each.mistakes <= each.calls
    }
    by_item: dict[str, list[Exposure]] = {}
    for exposure in first_exposures(exposures):
        counted = by_item.setdefault(exposure.item, [])
        if exposure.session in measured_by_session:
            counted.append(exposure)
    raw = {
        item: _raw_effect(exposures_of_item, measured_by_session) for item, exposures_of_item in sorted(by_item.items())
    }
    known = [item for item, each in raw.items() if each is not None]
    effects = np.array([each[0] for each in raw.values() if each is not None])
    errors = np.array([each[1] for each in raw.values() if each is not None])
    freedoms = np.array([each[2] for each in raw.values() if each is not None])
    # Student's tails are wider than the normal ones used below, and always-valid ones wider still.
    sessions = np.array([float(len(by_item[item])) for item in known])
    reach = always_valid_errors(sessions, freedoms, risk=risk) if always else student_quantile(freedoms, risk)
    widened = errors * reach / float(student_quantile(1e9, risk)) if known else errors
    shrunk = dict(zip(known, shrink_effects(effects, widened, risk), strict=True))
    rates = dict(
        zip(known, benjamini_hochberg(p_value(effects, errors, freedoms).tolist()) if known else [], strict=True)
    )
    return [_utility(item, by_item[item], raw[item], shrunk.get(item), rates.get(item), margin) for item in raw]


class ShrunkEffect(NamedTuple):
    """An effect that was shrunk towards the mean of similar ones, with its credible interval."""

    effect: float
    low: float
    high: float
    wrong_sign: float


def shrink_effects(effects: Numbers, errors: Numbers, risk: float = _RISK) -> list[ShrunkEffect]:
    """Posterior means and intervals of similar effects: normal around a common mean with a common spread, both unknown (flat
    priors; the spread on a grid up to four times the observed one). Fewer than three effects are not shrunk."""
    count = len(effects)
    if not count:
        return []
    if count < 3:
        means, spreads, weights = effects[None, :], errors[None, :], np.ones(1)
    else:
        means, spreads, weights = _posterior(effects, errors)
    found = []
    for place in range(count):
        mean, spread = means[:, place], spreads[:, place]
        below = float(weights @ ndtr(-mean / spread))
        low, high = (_mixture_quantile(mean, spread, weights, share) for share in (risk / 2, 1 - risk / 2))
        found.append(ShrunkEffect(float(weights @ mean), low, high, min(below, 1 - below)))
    return found


def _posterior(effects: Numbers, errors: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """For each spread on the grid: each item's mean and deviation, and how likely that spread is."""
    top = 4 * max(float(np.std(effects)), float(np.median(errors)))
    spread = (np.arange(_GRID) + 0.5)[:, None] * top / _GRID
    total = errors[None, :] ** 2 + spread**2
    precision = 1 / total
    mean = (precision * effects).sum(1) / precision.sum(1)
    mean_variance = 1 / precision.sum(1)
    logs = (
        0.5 * np.log(mean_variance)
        + 0.5 * np.log(precision).sum(1)
        - 0.5 * (precision * (effects - mean[:, None]) ** 2).sum(1)
    )
    weights = np.exp(logs - logs.max())
    pull = errors[None, :] ** 2 / total
    means = effects * (1 - pull) + mean[:, None] * pull
    variances = spread**2 * pull + pull**2 * mean_variance[:, None]
    return means, np.sqrt(variances), weights / weights.sum()


def _mixture_quantile(mean: Numbers, spread: Numbers, weights: Numbers, share: float) -> float:
    low, high = float((mean - 9 * spread).min()), float((mean + 9 * spread).max())
    for _ in range(60):
        middle = (low + high) / 2
        if float(weights @ ndtr((middle - mean) / spread)) < share:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _raw_effect(
    exposures: list[Exposure], measured_by_session: dict[str, MeasuredSession]
) -> tuple[float, float, float] | None:
    shown = sum(exposure.shown for exposure in exposures)
    if min(shown, len(exposures) - shown) < FEWEST_SESSIONS:
        return None
    above = np.array([float(measured_by_session[exposure.session].mistakes) for exposure in exposures])
    below = np.array([float(measured_by_session[exposure.session].calls) for exposure in exposures])
    weights = [np.array([_weight(exposure, side) for exposure in exposures]) for side in (True, False)]
    spread = compare_arms(measure_arm(above, below, weights[0]), measure_arm(above, below, weights[1]))
    variance = float(spread.variance)
    if not variance > 0:
        # No mistake anywhere, or only mistakes: assume that one in each arm was missed.
        variance = sum((float(side.max()) / float((side * below).sum())) ** 2 for side in weights)
    freedom = float(spread.freedom)
    return float(spread.difference), sqrt(variance), freedom if freedom > 0 else float(2 * FEWEST_SESSIONS - 2)


def _weight(exposure: Exposure, shown: bool) -> float:
    """One over the probability of what the session got; 0 if it is on the other side."""
    if exposure.shown != shown:
        return 0.0
    return 1 / exposure.probability if shown else 1 / (1 - exposure.probability)


def _utility(
    item: str,
    exposures: list[Exposure],
    raw: tuple[float, float, float] | None,
    found: ShrunkEffect | None,
    rate: float | None,
    margin: float,
) -> LessonUtility:
    shown = sum(exposure.shown for exposure in exposures)
    if raw is None or found is None:
        return LessonUtility(
            item, shown, len(exposures) - shown, None, None, None, None, None, None, None, "too little data"
        )
    if -margin <= found.low and found.high <= margin:
        verdict: EffectVerdict = "no difference"
    else:
        verdict = "helps" if found.high < 0 else "hurts" if found.low > 0 else "too little data"
    return LessonUtility(
        item,
        shown,
        len(exposures) - shown,
        raw[0],
        raw[1],
        found.effect,
        found.low,
        found.high,
        found.wrong_sign,
        rate,
        verdict,
    )
