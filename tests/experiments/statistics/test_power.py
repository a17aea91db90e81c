"""The plan: as many sessions as it says give the power it says, from one's own sessions."""

import numpy as np
import pytest

from preheat.errors import UserError
from preheat.experiments.statistics.power import moved, plan, pooled, simulated_power
from preheat.model.experiment import Unit
from tests.experiments.statistics.made import trial


def test_the_plan_keeps_its_word_and_is_near_the_formula() -> None:
    """Simulated power within three points of what was asked, and the count within a fifth of the delta method's."""
    for share, projects in ((0.5, 0), (0.8, 0), (0.5, 15)):
        made = plan(trial(1, 300, projects=projects, between=0.03), effect=-0.03, share=share, seed=1, draws=600)
        assert made.power == pytest.approx(0.8, abs=0.03)
        assert made.sessions == pytest.approx(made.formula, rel=0.4 if projects else 0.25)
        assert sum(made.arms) == made.sessions
        assert made.arms[0] == pytest.approx(share * made.sessions, abs=1)


def test_without_effect_the_power_is_the_risk() -> None:
    """The simulation has no thumb on the scale: no effect is found on one side in about 2.5 %."""
    pool, _ = pooled(trial(2, 300))
    found = simulated_power(pool, 200, -1e-12, 0.5, 3000, np.random.default_rng(0), 0.05)
    assert 0.015 <= found <= 0.035


def test_more_sessions_more_power_and_smaller_effects_need_more() -> None:
    """The curve rises, and half the effect needs about four times the sessions."""
    units = trial(3, 300)
    one, half = plan(units, effect=-0.04, draws=400), plan(units, effect=-0.02, draws=400)
    assert [each[1] for each in one.curve] == sorted(each[1] for each in one.curve)
    assert 3 < half.sessions / one.sessions < 5


def test_the_same_seed_gives_the_same_plan() -> None:
    """No chance but from the seed."""
    units = trial(3, 60, projects=8)
    assert plan(units, effect=-0.04, draws=200, seed=4) == plan(units, effect=-0.04, draws=200, seed=4)


def test_moving_counts_moves_the_rate_and_keeps_counts() -> None:
    """Up and down by the effect on the average, never below nothing or above all."""
    random = np.random.default_rng(0)
    below = random.integers(1, 60, 200_000).astype(float)
    above = random.binomial(below.astype(int), 0.2).astype(float)
    base = above.sum() / below.sum()
    for effect in (-0.05, 0.1):
        new = moved(above, below, effect, base, random)
        assert new.sum() / below.sum() == pytest.approx(base + effect, abs=0.002)
        assert ((new >= 0) & (new <= below) & (new % 1 == 0)).all()


def test_numbers_that_are_no_counts_can_be_planned_for() -> None:
    """Seconds: skewed, above one."""
    random = np.random.default_rng(1)
    units = [Unit(session=f"s{k}", arm="", above=float(random.lognormal(5, 0.7))) for k in range(80)]
    made = plan(units, effect=-40.0, draws=300)
    assert made.power == pytest.approx(0.8, abs=0.05)


def test_impossible_plans_are_refused() -> None:
    """Too few sessions, more than there is to lose, more sessions than can be simulated, nothing to find."""
    with pytest.raises(UserError, match="10 earlier sessions"):
        plan(trial(1, 5), effect=-0.01)
    with pytest.raises(UserError, match="cannot change"):
        plan(trial(1, 50), effect=-0.5)
    with pytest.raises(UserError, match=r"[0-9],[0-9]{3} sessions; plan for a larger one"):
        plan(trial(1, 50), effect=-0.0001)
    with pytest.raises(UserError, match="other than 0"):
        plan(trial(1, 50), effect=0.0)
