"""Items: what each item of a warm start is worth, from dropping it at random. Knows lots and outcomes, no lesson.

An item's own effect is `R(shown) - R(withheld)`, sessions weighted by one over the probability of what they got (as in
`lessons.effectiveness`, which does without the long sessions' correction of `spread`; a test holds the two together). With many
items and few sessions the most extreme are mostly luck: each is drawn towards the mean of all as far as its own error is large
against the spread between items (normal-normal). That spread is guessed from the same data: it is averaged over, not fixed at
its best value.
"""

from collections.abc import Iterable
from math import sqrt
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from preheat.model.experiment import Verdict
from preheat.model.experiment_report import Utility
from preheat.model.exposure import Exposure, Measured
from preheat.statistics.lots import FEWEST, first_lots
from preheat.statistics.multiplicity import benjamini_hochberg
from preheat.statistics.sample import Numbers
from preheat.statistics.sequence import errors_to_hold
from preheat.statistics.spread import arm, chance, quantile, two_arms

_RISK = 0.05
_GRID = 200


def utilities(
    exposures: Iterable[Exposure],
    measured: Iterable[Measured],
    *,
    margin: float,
    risk: float = _RISK,
    always: bool = False,
) -> list[Utility]:
    """Each item that a lot was ever drawn for, by its name; `always`: with intervals that hold however often one looks."""
    went = {each.session: each for each in measured if each.calls > 0 and 0 <= each.mistakes <= each.calls}
    drawn: dict[str, list[Exposure]] = {}
    for lot in first_lots(exposures):
        held = drawn.setdefault(lot.item, [])
        if lot.session in went:
            held.append(lot)
    raw = {item: _raw(lots, went) for item, lots in sorted(drawn.items())}
    known = [item for item, each in raw.items() if each is not None]
    effects = np.array([each[0] for each in raw.values() if each is not None])
    errors = np.array([each[1] for each in raw.values() if each is not None])
    freedoms = np.array([each[2] for each in raw.values() if each is not None])
    # Student's tails are wider than the normal ones that follow, and those of many looks wider still.
    sessions = np.array([float(len(drawn[item])) for item in known])
    reach = errors_to_hold(sessions, freedoms, risk=risk) if always else quantile(freedoms, risk)
    widened = errors * reach / float(quantile(1e9, risk)) if known else errors
    shrunk = dict(zip(known, shrink(effects, widened, risk), strict=True))
    rates = dict(
        zip(known, benjamini_hochberg(chance(effects, errors, freedoms).tolist()) if known else [], strict=True)
    )
    return [_utility(item, drawn[item], raw[item], shrunk.get(item), rates.get(item), margin) for item in raw]


class Shrunk(NamedTuple):
    effect: float
    low: float
    high: float
    wrong_sign: float


def shrink(effects: Numbers, errors: Numbers, risk: float = _RISK) -> list[Shrunk]:
    """Posterior means and intervals of effects that are alike: normal around a common mean with a common spread, both unknown
    (flat priors; the spread on a grid up to four times what is seen). Fewer than three are left as they are."""
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
        found.append(Shrunk(float(weights @ mean), low, high, min(below, 1 - below)))
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


def _raw(lots: list[Exposure], went: dict[str, Measured]) -> tuple[float, float, float] | None:
    shown = sum(lot.shown for lot in lots)
    if min(shown, len(lots) - shown) < FEWEST:
        return None
    above = np.array([float(went[lot.session].mistakes) for lot in lots])
    below = np.array([float(went[lot.session].calls) for lot in lots])
    weights = [
        np.array(
            [(1 / lot.probability if side else 1 / (1 - lot.probability)) if lot.shown == side else 0.0 for lot in lots]
        )
        for side in (True, False)
    ]
    spread = two_arms(arm(above, below, weights[0]), arm(above, below, weights[1]))
    variance = float(spread.variance)
    if not variance > 0:
        # No mistake anywhere, or nothing else: one in each arm is what could have been missed.
        variance = sum((float(side.max()) / float((side * below).sum())) ** 2 for side in weights)
    freedom = float(spread.freedom)
    return float(spread.difference), sqrt(variance), freedom if freedom > 0 else float(2 * FEWEST - 2)


def _utility(
    item: str,
    lots: list[Exposure],
    raw: tuple[float, float, float] | None,
    found: Shrunk | None,
    rate: float | None,
    margin: float,
) -> Utility:
    shown = sum(lot.shown for lot in lots)
    if raw is None or found is None:
        return Utility(item, shown, len(lots) - shown, None, None, None, None, None, None, None, "too little data")
    if -margin <= found.low and found.high <= margin:
        verdict: Verdict = "no difference"
    else:
        verdict = "helps" if found.high < 0 else "hurts" if found.low > 0 else "too little data"
    return Utility(
        item,
        shown,
        len(lots) - shown,
        raw[0],
        raw[1],
        found.effect,
        found.low,
        found.high,
        found.wrong_sign,
        rate,
        verdict,
    )
