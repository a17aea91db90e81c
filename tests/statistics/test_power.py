"""The sample-size plan: as many sessions as it says give the power that it says."""

import numpy as np
import pytest

from preheat.errors import UserError
from preheat.model.experiment import Observation
from preheat.statistics.power import find_possible_effect, make_pool, plan_sample_size, shift_counts, simulate_power
from tests.statistics.trials import make_trial


def test_the_plan_reaches_its_power_and_is_close_to_the_formula() -> None:
    """Simulated power within three points, and the count within a fifth of the delta method's."""
    for share, projects in ((0.5, 0), (0.8, 0), (0.5, 15)):
        made = plan_sample_size(
            make_trial(1, 300, projects=projects, between=0.03), effect=-0.03, share=share, seed=1, draws=1500
        )
        assert made.power == pytest.approx(0.8, abs=0.03)
        assert made.sessions == pytest.approx(made.formula, rel=0.4 if projects else 0.25)
        assert sum(made.arms) == made.sessions
        assert made.arms[0] == pytest.approx(share * made.sessions, abs=1)


def test_without_an_effect_the_power_is_half_the_risk() -> None:
    """About 2.5 %: the right side only."""
    pool, _ = make_pool(make_trial(2, 300))
    found = simulate_power(pool, 200, -1e-12, 0.5, 3000, np.random.default_rng(0), 0.05)
    assert 0.015 <= found <= 0.035


def test_power_rises_with_sessions_and_half_the_effect_needs_four_times_as_many() -> None:
    units = make_trial(3, 300)
    one, half = plan_sample_size(units, effect=-0.04, draws=400), plan_sample_size(units, effect=-0.02, draws=400)
    assert [each[1] for each in one.curve] == sorted(each[1] for each in one.curve)
    assert 3 < half.sessions / one.sessions < 5


def test_the_same_seed_gives_the_same_plan() -> None:
    units = make_trial(3, 60, projects=8)
    assert plan_sample_size(units, effect=-0.04, draws=200, seed=4) == plan_sample_size(
        units, effect=-0.04, draws=200, seed=4
    )


def test_shifted_counts_have_the_shifted_rate_and_stay_counts() -> None:
    random = np.random.default_rng(0)
    below = random.integers(1, 60, 200_000).astype(float)
    above = random.binomial(below.astype(int), 0.2).astype(float)
    base = above.sum() / below.sum()
    for effect in (-0.05, 0.1):
        new = shift_counts(above, below, effect, base, random)
        assert new.sum() / below.sum() == pytest.approx(base + effect, abs=0.002)
        assert ((new >= 0) & (new <= below) & (new % 1 == 0)).all()


def test_a_metric_that_is_no_count_can_be_planned_for() -> None:
    random = np.random.default_rng(1)
    units = [Observation(session=f"s{k}", arm="", above=float(random.lognormal(5, 0.7))) for k in range(80)]
    made = plan_sample_size(units, effect=-40.0, draws=300)
    assert made.power == pytest.approx(0.8, abs=0.05)


def test_impossible_plans_are_refused() -> None:
    """Too few sessions, a larger fall than possible, more sessions than can be simulated, no effect."""
    with pytest.raises(UserError, match="10 earlier sessions"):
        plan_sample_size(make_trial(1, 5), effect=-0.01)
    with pytest.raises(UserError, match=r"can fall by 0\.1\d+ and rise by 0\.8\d+, but not change by -0\.5"):
        plan_sample_size(make_trial(1, 50), effect=-0.5)
    with pytest.raises(UserError, match="0 in every session"):
        plan_sample_size([Observation(session=f"s{k}", arm="", above=0.0, below=0.5) for k in range(20)], effect=-0.5)
    with pytest.raises(UserError, match="other than 0"):
        plan_sample_size(make_trial(1, 50), effect=0.0)


def test_the_refusal_of_a_small_difference_names_one_that_can_be_detected() -> None:
    units = make_trial(1, 200)
    with pytest.raises(UserError, match=r"[0-9],[0-9]{3} sessions; plan for a larger one") as refused:
        plan_sample_size(units, effect=-0.0001)
    shown = float(str(refused.value).rpartition(" ")[2])
    assert plan_sample_size(units, effect=-shown, draws=300).formula == pytest.approx(200, rel=0.2)


def units_with_failures(count: int, failed: int) -> list[Observation]:
    return [Observation(session=f"s{k:03}", arm="", above=float(k >= failed)) for k in range(count)]


@pytest.mark.parametrize("failed", [0, 3])
def test_a_share_near_one_is_planned_for_a_fall(failed: int) -> None:
    """Success of 100 or 95 % cannot rise by 15 points; that it falls by as much can be seen, and the plan keeps its word though
    a share near one spreads more as it falls."""
    units = units_with_failures(60, failed)
    assert find_possible_effect(units, 0.15) == -0.15
    assert find_possible_effect(units, 0.03) == (0.03 if failed else -0.03)
    assert find_possible_effect(units, 2.0) == 2.0
    made = plan_sample_size(units, effect=-0.15, draws=1500)
    assert made.power == pytest.approx(0.8, abs=0.04)
    assert made.sessions == pytest.approx(made.formula, rel=0.4)


def units_in_projects(faulty: int) -> list[Observation]:
    """Binary sessions in twelve projects, of which so many fail in four of five sessions and the others never."""
    return [
        Observation(session=f"s{k}", arm="", above=float(k % 12 < faulty and k % 5 > 0), cluster=f"p{k % 12}")
        for k in range(240)
    ]


def test_a_power_that_the_simulation_never_reaches_is_not_promised(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some projects make all the mistakes, so an effect is known as well as those few: the formula is far too low, the curve goes
    on until the power is there, and where it never is that is said."""
    made = plan_sample_size(units_in_projects(6), effect=-0.2, draws=1000)
    assert made.curve[-1][1] >= 0.8
    assert made.curve[-1][0] > 3 * made.formula
    assert made.power == pytest.approx(0.8, abs=0.04)
    monkeypatch.setattr("preheat.statistics.power._MOST", 3000)
    with pytest.raises(UserError, match="not even 3,000 sessions show a difference"):
        plan_sample_size(units_in_projects(2), effect=-0.1, draws=200)


def test_sessions_with_nothing_to_count_are_remarked() -> None:
    empty = [Observation(session=f"e{k}", arm="", above=0.0, below=0.0) for k in range(30)]
    made = plan_sample_size(units_with_failures(60, 20) + empty, effect=0.15, draws=200)
    assert made.sampled_from[0] == 60
    assert made.remarks[0].startswith("30 of 90 sessions had nothing to count")
    with pytest.raises(UserError, match="here are 5, and 30 with nothing to count"):
        plan_sample_size(units_with_failures(5, 1) + empty, effect=0.15)
