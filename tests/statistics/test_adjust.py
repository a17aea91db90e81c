"""Adjustment for what was known before narrows the interval where that is informative, and hardly widens it otherwise."""

from typing import Any

import msgspec
import numpy as np
import pytest

from preheat.statistics.effect import adjust_difference, estimate_difference
from tests.statistics.trials import make_trial

WARM: dict[str, Any] = {"metric": "mistakes", "arm": "warm", "against": "cold"}


def errors_and_coverage(**shape: Any) -> tuple[list[float], list[float], int]:
    """The errors, plain and adjusted, over many trials, and how often the adjusted interval held the truth."""
    plain, narrow, held = [], [], 0
    for seed in range(150):
        units = [msgspec.structs.replace(each, cluster="") for each in make_trial(seed, 150, **shape)]
        one, other = estimate_difference(units, **WARM), adjust_difference(units, **WARM)
        assert one.error is not None
        assert other.error is not None
        assert other.low is not None
        assert other.high is not None
        plain.append(one.error)
        narrow.append(other.error)
        held += other.low <= shape.get("effect", 0.0) <= other.high
    return plain, narrow, held


@pytest.mark.parametrize(("equal", "left"), [(True, 0.8), (False, 0.88)])
def test_an_informative_covariate_narrows_the_interval_and_keeps_its_coverage(equal: bool, left: float) -> None:
    """Where projects differ much and their earlier rate is known, a fifth of the error goes; with lengths that nobody knew
    before, an eighth. The truth stays inside."""
    plain, narrow, held = errors_and_coverage(projects=25, between=0.08, base=0.3, before=True, equal=equal)
    assert np.mean(narrow) < left * np.mean(plain)
    assert 0.91 <= held / 150 <= 1.0


def test_strata_alone_narrow_the_interval_where_projects_differ() -> None:
    """Three large projects, with nothing known from before."""
    plain, narrow, held = errors_and_coverage(projects=3, between=0.15, base=0.4)
    assert np.mean(narrow) < 0.85 * np.mean(plain)
    assert 0.91 <= held / 150 <= 1.0


def test_a_covariate_of_pure_noise_widens_the_interval_by_less_than_three_percent() -> None:
    random = np.random.default_rng(0)
    ratios, held = [], 0
    for seed in range(150):
        units = [
            msgspec.structs.replace(each, before=float(random.random())) for each in make_trial(seed, 150, share=0.8)
        ]
        one, other = estimate_difference(units, **WARM), adjust_difference(units, **WARM)
        assert other.adjusted
        assert one.error is not None
        assert other.error is not None
        assert other.low is not None
        assert other.high is not None
        ratios.append(other.error / one.error)
        held += other.low <= 0 <= other.high
    assert np.mean(ratios) < 1.03
    assert np.max(ratios) < 1.15
    assert held >= 137


def test_the_adjusted_difference_is_close_to_lins_regression_with_interactions() -> None:
    """Compared with statsmodels' fully interacted regression, on sessions of equal length."""
    import statsmodels.api as models

    units = [
        msgspec.structs.replace(each, cluster="", stratum="")
        for each in make_trial(3, 800, equal=True, projects=40, between=0.06, base=0.3, before=True, effect=-0.03)
    ]
    found = adjust_difference(units, **WARM)
    arm = np.array([float(each.arm == "warm") for each in units])
    before = np.array([each.before or 0.0 for each in units])
    before = before - before.mean()
    design = np.column_stack([np.ones(len(units)), arm, before, arm * before])
    fit = models.OLS(np.array([each.above / each.below for each in units]), design).fit(cov_type="HC2")
    assert found.difference == pytest.approx(fit.params[1], abs=0.1 * fit.bse[1])
    assert found.error == pytest.approx(fit.bse[1], rel=0.03)


def test_the_adjusted_difference_is_unbiased_if_the_arm_changes_session_lengths() -> None:
    """Warm sessions are twice as long in bad projects: weighting the covariate by length would bias the result."""
    found = []
    for seed in range(200):
        random = np.random.default_rng(seed)
        units = [
            msgspec.structs.replace(each, cluster="", stratum="")
            for each in make_trial(seed, 200, projects=20, between=0.0)
        ]
        units = [msgspec.structs.replace(each, before=float(random.random())) for each in units]
        units = [
            msgspec.structs.replace(each, above=each.above * 2, below=each.below * 2)
            if each.arm == "warm" and (each.before or 0) > 0.5
            else each
            for each in units
        ]
        each = adjust_difference(units, **WARM)
        assert each.difference is not None
        found.append(each.difference)
    assert np.mean(found) == pytest.approx(0.0, abs=3 * np.std(found) / np.sqrt(200))


def test_without_a_usable_covariate_the_plain_estimate_comes_with_a_remark() -> None:
    """Nothing from before, a constant, too few sessions, some missing."""
    units = make_trial(1, 80)
    none = adjust_difference(units, **WARM)
    assert not none.adjusted
    assert none.remarks == ("nothing is known from before the trial",)
    assert none.low == estimate_difference(units, **WARM).low
    same = adjust_difference([msgspec.structs.replace(each, before=0.1) for each in units], **WARM)
    assert not same.adjusted
    assert "the same for all" in same.remarks[0]
    few = adjust_difference(make_trial(1, 14, projects=3, before=True), **WARM)
    assert not few.adjusted
    assert "too few sessions" in few.remarks[-1]
    half = [
        each if number % 2 else msgspec.structs.replace(each, before=None)
        for number, each in enumerate(make_trial(1, 120, projects=9, before=True))
    ]
    found = adjust_difference(half, **WARM)
    assert found.adjusted
    assert any(text.startswith("60 sessions have nothing from before") for text in found.remarks)


def test_the_adjusted_interval_by_cluster_keeps_its_coverage() -> None:
    """Effects differ between projects, and strata do not hide that."""
    held = 0
    for seed in range(150):
        random = np.random.default_rng(1000 + seed)
        shifts = random.normal(0, 0.05, 12)
        units = []
        for each in make_trial(seed, 240, projects=12, base=0.3, between=0.1, before=True):
            shift = float(shifts[int(each.cluster[1:])]) if each.arm == "warm" else 0.0
            units.append(msgspec.structs.replace(each, above=each.above + shift * each.below))
        found = adjust_difference(units, **WARM)
        assert found.clusters == 12
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 0 <= found.high
    assert held >= 135
