"""The interval that holds at every look: wider than for one look, narrowest at its horizon, and it does hold."""

from math import log, sqrt
from typing import Any

import numpy as np
import pytest

from preheat.statistics.ratio import difference
from preheat.statistics.sequence import BURN_IN, always, errors_to_hold
from preheat.statistics.spread import arm, quantile, two_arms
from tests.statistics.made import trial

WARM: dict[str, Any] = {"metric": "mistakes", "arm": "warm", "against": "cold"}


def test_with_many_sessions_it_is_the_published_formula() -> None:
    """Robbins' normal mixture, as Waudby-Smith and others write it, with the tuning at the horizon."""
    risk, horizon, count = 0.05, 500.0, 700.0
    scale = sqrt((-2 * log(risk) + log(1 - 2 * log(risk))) / horizon)
    published = sqrt(2 * (count * scale**2 + 1) / (count**2 * scale**2) * log(sqrt(count * scale**2 + 1) / risk))
    assert float(errors_to_hold(count, 1e9, horizon=horizon, risk=risk)) / sqrt(count) == pytest.approx(
        published, rel=1e-6
    )


def test_it_is_narrowest_near_the_horizon() -> None:
    """In standard errors, the least is at the horizon, and always more than for one look."""
    counts = np.arange(20, 5000)
    held = errors_to_hold(counts.astype(float), 1e9, horizon=300)
    at = [float(errors_to_hold(300.0, 1e9, horizon=each)) for each in (75.0, 300.0, 1200.0)]
    assert min(at) == at[1]
    assert max(at) < 1.1 * at[1]
    assert (held > float(quantile(1e9, 0.05))).all()


@pytest.mark.parametrize(("share", "lengths"), [(0.5, "unequal"), (0.8, "unequal"), (0.8, "yes or no")])
def test_looking_after_every_session_keeps_false_alarms_under_five_in_a_hundred(share: float, lengths: str) -> None:
    """300 trials without effect, 250 looks each: the sequence holds where the interval for one look fails in many."""
    random = np.random.default_rng(7)
    runs, most = 300, 250
    projects = random.gamma(4, 0.02, (runs, 10))
    rates = np.clip(np.take_along_axis(projects, random.integers(0, 10, (runs, most)), axis=1), 0.001, 0.9)
    below = np.ceil(random.lognormal(3.2, 0.8, (runs, most))) if lengths == "unequal" else np.ones((runs, most))
    above = random.binomial(below.astype(int), rates).astype(float)
    treated = (random.random((runs, most)) < share).astype(float)
    alarm, naive = np.zeros(runs, dtype=bool), np.zeros(runs, dtype=bool)
    for look in range(2 * BURN_IN, most + 1):
        inside = treated[:, :look]
        spread = two_arms(
            arm(above[:, :look], below[:, :look], inside), arm(above[:, :look], below[:, :look], 1 - inside)
        )
        ready = np.minimum(inside.sum(1), look - inside.sum(1)) >= BURN_IN
        with np.errstate(invalid="ignore", divide="ignore"):
            errors = np.abs(spread.difference) / np.sqrt(spread.variance)
            alarm |= ready & (errors > errors_to_hold(float(look), spread.freedom))
            naive |= ready & (errors > quantile(spread.freedom, 0.05))
    assert alarm.mean() <= 0.05
    assert naive.mean() > 0.1


def test_the_estimate_gets_both_intervals_and_the_early_one_gets_none() -> None:
    """The sequence lies around the interval for one look; before the burn-in there is none, and it says so."""
    found = always(difference(trial(1, 200, effect=-0.05), **WARM))
    assert found.always_low is not None
    assert found.always_high is not None
    assert found.low is not None
    assert found.high is not None
    assert found.always_low < found.low < found.high < found.always_high
    early = always(difference(trial(1, 14), **WARM))
    assert early.always_low is None
    assert early.named[-1].startswith("too early")
    assert always(difference([], **WARM)) == difference([], **WARM)
