"""Always-valid intervals are wider than for one look, narrowest at their horizon, and hold at every look."""

from math import log, sqrt
from typing import Any

import numpy as np
import pytest

from preheat.statistics.ratio import estimate_difference
from preheat.statistics.sequence import BURN_IN, add_always_valid_interval, always_valid_errors
from preheat.statistics.spread import compare_arms, measure_arm, student_quantile
from tests.statistics.made import make_trial

ARMS: dict[str, Any] = {"metric": "mistakes", "arm": "warm", "against": "cold"}


def test_with_many_sessions_the_width_is_that_of_the_published_formula() -> None:
    """Robbins' normal mixture, as Waudby-Smith and others write it, with the tuning at the horizon."""
    risk, horizon, count = 0.05, 500.0, 700.0
    scale = sqrt((-2 * log(risk) + log(1 - 2 * log(risk))) / horizon)
    published = sqrt(2 * (count * scale**2 + 1) / (count**2 * scale**2) * log(sqrt(count * scale**2 + 1) / risk))
    assert float(always_valid_errors(count, 1e9, horizon=horizon, risk=risk)) / sqrt(count) == pytest.approx(
        published, rel=1e-6
    )


def test_the_always_valid_interval_is_narrowest_at_its_horizon() -> None:
    """In standard errors, and always wider than for one look."""
    counts = np.arange(20, 5000)
    held = always_valid_errors(counts.astype(float), 1e9, horizon=300)
    at = [float(always_valid_errors(300.0, 1e9, horizon=each)) for each in (75.0, 300.0, 1200.0)]
    assert min(at) == at[1]
    assert max(at) < 1.1 * at[1]
    assert (held > float(student_quantile(1e9, 0.05))).all()


@pytest.mark.parametrize(("share", "lengths"), [(0.5, "unequal"), (0.8, "unequal"), (0.8, "yes or no")])
def test_looking_after_every_session_keeps_false_alarms_under_five_percent(share: float, lengths: str) -> None:
    """300 trials without an effect, 250 looks each."""
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
        spread = compare_arms(
            measure_arm(above[:, :look], below[:, :look], inside),
            measure_arm(above[:, :look], below[:, :look], 1 - inside),
        )
        ready = np.minimum(inside.sum(1), look - inside.sum(1)) >= BURN_IN
        with np.errstate(invalid="ignore", divide="ignore"):
            errors = np.abs(spread.difference) / np.sqrt(spread.variance)
            alarm |= ready & (errors > always_valid_errors(float(look), spread.freedom))
            naive |= ready & (errors > student_quantile(spread.freedom, 0.05))
    assert alarm.mean() <= 0.05
    assert naive.mean() > 0.1


def test_the_always_valid_interval_contains_the_plain_one_and_is_missing_before_the_burn_in() -> None:
    found = add_always_valid_interval(estimate_difference(make_trial(1, 200, effect=-0.05), **ARMS))
    assert found.always_low is not None
    assert found.always_high is not None
    assert found.low is not None
    assert found.high is not None
    assert found.always_low < found.low < found.high < found.always_high
    early = add_always_valid_interval(estimate_difference(make_trial(1, 14), **ARMS))
    assert early.always_low is None
    assert early.remarks[-1].startswith("too early")
    assert add_always_valid_interval(estimate_difference([], **ARMS)) == estimate_difference([], **ARMS)
