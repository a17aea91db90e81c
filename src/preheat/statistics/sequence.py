"""Always-valid intervals, which hold after every session (a confidence sequence). Knows only an estimate and its error.

After Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas (2021): with a mean of n influence values and their standard error s, all of

    mean ± s · sqrt( 2 (nρ² + 1) / (nρ²) · log( sqrt(nρ² + 1) / risk ) )

hold together, from a first look that is not too early. A ratio is such a mean (delta method), and so is an adjusted difference.
ρ determines at which n the interval is narrowest: ρ² = (-2 log risk + log(1 - 2 log risk)) / horizon. The normal tail is
replaced by Student's at the same level, and there is no interval before `BURN_IN` sessions in each arm: limits are for large n.
"""

from math import log

import msgspec
import numpy as np
from scipy.special import log_ndtr, stdtrit

from preheat.model.experiment import EffectEstimate
from preheat.statistics.ratio import RISK
from preheat.statistics.sample import Numbers

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
