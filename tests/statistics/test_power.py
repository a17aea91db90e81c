"""The plan: as many sessions as it says give the power it says, from one's own sessions."""

import numpy as np
import pytest

from preheat.errors import UserError
from preheat.model.experiment import Unit
from preheat.statistics.power import moved, plan, pooled, simulated_power, with_room
from tests.statistics.made import trial


def test_the_plan_keeps_its_word_and_is_near_the_formula() -> None:
    """Simulated power within three points of what was asked, and the count within a fifth of the delta method's."""
    for share, projects in ((0.5, 0), (0.8, 0), (0.5, 15)):
        made = plan(trial(1, 300, projects=projects, between=0.03), effect=-0.03, share=share, seed=1, draws=1500)
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
    with pytest.raises(UserError, match=r"can fall by 0\.1\d+ and rise by 0\.8\d+, but not change by -0\.5"):
        plan(trial(1, 50), effect=-0.5)
    with pytest.raises(UserError, match="0 in every session"):
        plan([Unit(session=f"s{k}", arm="", above=0.0, below=0.5) for k in range(20)], effect=-0.5)
    with pytest.raises(UserError, match="other than 0"):
        plan(trial(1, 50), effect=0.0)


def test_too_small_a_difference_names_one_that_shows() -> None:
    """More sessions than can be simulated: what as many sessions as there are would show is said, and it is true."""
    units = trial(1, 200)
    with pytest.raises(UserError, match=r"[0-9],[0-9]{3} sessions; plan for a larger one") as refused:
        plan(units, effect=-0.0001)
    shown = float(str(refused.value).rpartition(" ")[2])
    assert plan(units, effect=-shown, draws=300).formula == pytest.approx(200, rel=0.2)


def passes(count: int, failed: int) -> list[Unit]:
    return [Unit(session=f"s{k:03}", arm="", above=float(k >= failed)) for k in range(count)]


@pytest.mark.parametrize("failed", [0, 3])
def test_a_share_near_one_is_planned_the_other_way(failed: int) -> None:
    """Success of 100 or 95 % cannot rise by 15 points; that it falls by as much can be seen, and the plan keeps its word though
    a share near one spreads more as it falls."""
    units = passes(60, failed)
    assert with_room(units, 0.15) == -0.15
    assert with_room(units, 0.03) == (0.03 if failed else -0.03)
    assert with_room(units, 2.0) == 2.0
    made = plan(units, effect=-0.15, draws=1500)
    assert made.power == pytest.approx(0.8, abs=0.04)
    assert made.sessions == pytest.approx(made.formula, rel=0.4)


def by_project(faulty: int) -> list[Unit]:
    """Yes and no, in twelve projects of which so many fail in four of five sessions and the others never."""
    return [
        Unit(session=f"s{k}", arm="", above=float(k % 12 < faulty and k % 5 > 0), cluster=f"p{k % 12}")
        for k in range(240)
    ]


def test_a_power_that_was_never_reached_is_not_promised(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some projects make all the mistakes, so an effect is known as well as those few: the formula is far too low, the curve goes
    on until the power is there, and where it never is that is said."""
    made = plan(by_project(6), effect=-0.2, draws=1000)
    assert made.curve[-1][1] >= 0.8
    assert made.curve[-1][0] > 3 * made.formula
    assert made.power == pytest.approx(0.8, abs=0.04)
    monkeypatch.setattr("preheat.statistics.power._MOST", 3000)
    with pytest.raises(UserError, match="not even 3,000 sessions show a difference"):
        plan(by_project(2), effect=-0.1, draws=200)


def test_sessions_with_nothing_to_count_are_named() -> None:
    """They are not drawn from, and a trial has as many of them besides; if too few are left, it is said why."""
    empty = [Unit(session=f"e{k}", arm="", above=0.0, below=0.0) for k in range(30)]
    made = plan(passes(60, 20) + empty, effect=0.15, draws=200)
    assert made.drawn_from[0] == 60
    assert made.named[0].startswith("30 of 90 sessions had nothing to count")
    with pytest.raises(UserError, match="here are 5, and 30 with nothing to count"):
        plan(passes(5, 1) + empty, effect=0.15)
