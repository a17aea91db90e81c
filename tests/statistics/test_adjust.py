"""Adjustment takes out what was known before: narrower where that tells something, hardly wider where it does not."""

from typing import Any

import msgspec
import numpy as np
import pytest

from preheat.statistics.adjust import adjusted
from preheat.statistics.ratio import difference
from tests.statistics.made import trial

WARM: dict[str, Any] = {"metric": "mistakes", "arm": "warm", "against": "cold"}


def widths(**shape: Any) -> tuple[list[float], list[float], int]:
    """Errors plain and adjusted over trials, and how often the adjusted interval held the truth."""
    plain, narrow, held = [], [], 0
    for seed in range(150):
        units = [msgspec.structs.replace(each, cluster="") for each in trial(seed, 150, **shape)]
        one, other = difference(units, **WARM), adjusted(units, **WARM)
        assert one.error is not None
        assert other.error is not None
        assert other.low is not None
        assert other.high is not None
        plain.append(one.error)
        narrow.append(other.error)
        held += other.low <= shape.get("effect", 0.0) <= other.high
    return plain, narrow, held


@pytest.mark.parametrize(("equal", "left"), [(True, 0.8), (False, 0.88)])
def test_a_telling_covariate_makes_the_interval_narrower_and_it_still_holds(equal: bool, left: float) -> None:
    """Where projects differ much and their earlier rate is known, a fifth of the error goes; with lengths that nobody knew
    before, an eighth. The truth stays inside."""
    plain, narrow, held = widths(projects=25, between=0.08, base=0.3, before=True, equal=equal)
    assert np.mean(narrow) < left * np.mean(plain)
    assert 0.91 <= held / 150 <= 1.0


def test_strata_alone_help_where_projects_differ() -> None:
    """Post-stratification by three large projects, with nothing from before."""
    plain, narrow, held = widths(projects=3, between=0.15, base=0.4)
    assert np.mean(narrow) < 0.85 * np.mean(plain)
    assert 0.91 <= held / 150 <= 1.0


def test_a_covariate_that_tells_nothing_costs_next_to_nothing() -> None:
    """Pure noise from before widens the interval by less than three hundredths on the average."""
    random = np.random.default_rng(0)
    ratios, held = [], 0
    for seed in range(150):
        units = [msgspec.structs.replace(each, before=float(random.random())) for each in trial(seed, 150, share=0.8)]
        one, other = difference(units, **WARM), adjusted(units, **WARM)
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


def test_it_is_close_to_lins_regression_with_interactions() -> None:
    """Statsmodels' fully interacted regression, on equal lengths, gives nearly the same difference and error."""
    import statsmodels.api as models

    units = [
        msgspec.structs.replace(each, cluster="", stratum="")
        for each in trial(3, 800, equal=True, projects=40, between=0.06, base=0.3, before=True, effect=-0.03)
    ]
    found = adjusted(units, **WARM)
    arm = np.array([float(each.arm == "warm") for each in units])
    before = np.array([each.before or 0.0 for each in units])
    before = before - before.mean()
    design = np.column_stack([np.ones(len(units)), arm, before, arm * before])
    fit = models.OLS(np.array([each.above / each.below for each in units]), design).fit(cov_type="HC2")
    assert found.difference == pytest.approx(fit.params[1], abs=0.1 * fit.bse[1])
    assert found.error == pytest.approx(fit.bse[1], rel=0.03)


def test_it_stays_honest_if_the_arm_changes_the_lengths() -> None:
    """Warm sessions twice as long where projects are bad: weighting the covariate by length would move the answer."""
    found = []
    for seed in range(200):
        random = np.random.default_rng(seed)
        units = [
            msgspec.structs.replace(each, cluster="", stratum="") for each in trial(seed, 200, projects=20, between=0.0)
        ]
        units = [msgspec.structs.replace(each, before=float(random.random())) for each in units]
        units = [
            msgspec.structs.replace(each, above=each.above * 2, below=each.below * 2)
            if each.arm == "warm" and (each.before or 0) > 0.5
            else each
            for each in units
        ]
        each = adjusted(units, **WARM)
        assert each.difference is not None
        found.append(each.difference)
    assert np.mean(found) == pytest.approx(0.0, abs=3 * np.std(found) / np.sqrt(200))


def test_what_cannot_be_adjusted_for_is_named_and_the_plain_answer_given() -> None:
    """Nothing from before, a constant, too few sessions, some missing."""
    units = trial(1, 80)
    none = adjusted(units, **WARM)
    assert not none.adjusted
    assert none.named == ("nothing is known from before the trial",)
    assert none.low == difference(units, **WARM).low
    same = adjusted([msgspec.structs.replace(each, before=0.1) for each in units], **WARM)
    assert not same.adjusted
    assert "the same for all" in same.named[0]
    few = adjusted(trial(1, 14, projects=3, before=True), **WARM)
    assert not few.adjusted
    assert "too few sessions" in few.named[-1]
    half = [
        each if number % 2 else msgspec.structs.replace(each, before=None)
        for number, each in enumerate(trial(1, 120, projects=9, before=True))
    ]
    found = adjusted(half, **WARM)
    assert found.adjusted
    assert any(text.startswith("60 sessions have nothing from before") for text in found.named)


def test_by_cluster_the_adjusted_interval_holds_too() -> None:
    """Projects whose effects differ: the spread between them stays in the interval when strata are taken out."""
    held = 0
    for seed in range(150):
        random = np.random.default_rng(1000 + seed)
        shifts = random.normal(0, 0.05, 12)
        units = []
        for each in trial(seed, 240, projects=12, base=0.3, between=0.1, before=True):
            shift = float(shifts[int(each.cluster[1:])]) if each.arm == "warm" else 0.0
            units.append(msgspec.structs.replace(each, above=each.above + shift * each.below))
        found = adjusted(units, **WARM)
        assert found.clusters == 12
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 0 <= found.high
    assert held >= 135
