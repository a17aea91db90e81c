"""The effect of an advisory on the next calls is unbiased, agrees with statsmodels, and is clustered by session."""

import re
from typing import Any

import numpy as np
import pytest

from preheat.errors import UserError
from preheat.statistics.excursion import FEWEST_SESSIONS, AdviceMoment, _design, estimate_excursion, fit_weighted


def simulate_moments(seed: int, sessions: int, effect: float) -> list[AdviceMoment]:
    """Struggling sessions get more advice and fail more: a plain comparison is confounded, the randomisation is not."""
    random = np.random.default_rng(seed)
    moments = []
    for number in range(sessions):
        trouble = float(random.gamma(2, 0.5))
        for _ in range(int(random.integers(1, 7))):
            now = trouble + float(random.normal(0, 0.3))
            probability = 0.9 if now > 1.2 else 0.5
            given = bool(random.random() < probability)
            outcome = float(random.poisson(max(0.05, 0.3 + 0.5 * max(0.0, now) ** 1.3 + effect * given)))
            moments.append(AdviceMoment(f"s{number:03}", given, probability, outcome, (now,)))
    return moments


def test_the_fit_equals_that_of_statsmodels() -> None:
    """Weighted least squares and its sandwich over sessions, before any correction for few of them."""
    import statsmodels.api as models

    kept = sorted(simulate_moments(1, 80, -0.3))
    design, weights, outcome = _design(kept)
    codes = np.unique([each.session for each in kept], return_inverse=True)[1]
    ours = fit_weighted(design, outcome, weights, codes)
    theirs = models.WLS(outcome, design, weights=weights).fit(
        cov_type="cluster", cov_kwds={"groups": codes, "use_correction": False}
    )
    assert ours.coefficients == pytest.approx(theirs.params)
    assert ours.plain == pytest.approx(theirs.cov_params())
    assert ours.covariance[-1, -1] > ours.plain[-1, -1]


def test_the_effect_is_unbiased_where_a_plain_comparison_is_confounded() -> None:
    """Advice is given where things go badly, so the plain difference says that it harms."""
    held, found, plain = 0, [], []
    for seed in range(300):
        each = estimate_excursion(simulate_moments(seed, 40, -0.25), metric="failures")
        assert each.low is not None
        assert each.high is not None
        assert each.difference is not None
        assert each.level is not None
        assert each.base is not None
        held += each.low <= -0.25 <= each.high
        found.append(each.difference)
        plain.append(each.level - each.base)
    assert np.mean(plain) > 0
    assert np.mean(found) == pytest.approx(-0.25, abs=0.02)
    assert 0.91 <= held / 300 <= 0.985


def test_without_an_effect_false_alarms_stay_near_one_in_twenty() -> None:
    """With only fifteen sessions."""
    alarms = 0
    for seed in range(400):
        each = estimate_excursion(simulate_moments(seed, 15, 0.0), metric="failures")
        alarms += each.p is not None and each.p < 0.05
    assert alarms / 400 <= 0.075


def test_the_reason_is_given_where_nothing_can_be_estimated() -> None:
    """None withheld, few sessions, nothing random, no variance, constant or duplicate columns."""
    one: Any = {"probability": 0.5, "outcome": 1.0}
    assert estimate_excursion([], metric="x").units == (0, 0)
    alone = estimate_excursion([AdviceMoment("a", True, **one)], metric="x")
    assert (alone.units, alone.difference, "withheld" in alone.why) == ((1, 0), None, True)
    few = [AdviceMoment(f"s{k}", bool(k % 2), 0.5, float(k)) for k in range(6)]
    assert re.findall("[0-9]+", estimate_excursion(few, metric="x").why) == ["6", str(FEWEST_SESSIONS)]
    always = [*simulate_moments(1, 30, 0.0), AdviceMoment("z", True, 1.0, 3.0, (1.0,))]
    (remark,) = estimate_excursion(always, metric="x").remarks
    assert remark.startswith("1 advisory ")
    rare = [AdviceMoment(f"s{k:02}", k > 1, 0.9, float(k % 4)) for k in range(40)]
    assert re.findall("[0-9]+", estimate_excursion(rare, metric="x").why) == ["2", "4"]
    flat = [AdviceMoment(f"s{k}", bool(k % 2), 0.5, 2.0) for k in range(40)]
    assert "no spread" in estimate_excursion(flat, metric="x").why
    doubled = [
        each._replace(before=(each.before[0], 2 * each.before[0], 7.0)) for each in simulate_moments(1, 40, -0.3)
    ]
    assert estimate_excursion(doubled, metric="x").difference == pytest.approx(
        estimate_excursion(simulate_moments(1, 40, -0.3), metric="x").difference
    )
    with pytest.raises(UserError, match="no number"):
        estimate_excursion([AdviceMoment("a", True, 0.5, float("nan"))], metric="x")
    with pytest.raises(UserError, match="same columns"):
        estimate_excursion([AdviceMoment("a", True, 0.5, 1.0), AdviceMoment("b", True, 0.5, 1.0, (1.0,))], metric="x")
