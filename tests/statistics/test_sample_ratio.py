"""The sample-ratio check stays quiet while assignments are fair and reports a broken share."""

import numpy as np
import pytest
from scipy.stats import chisquare

from preheat.errors import UserError
from preheat.statistics.sample_ratio import MISMATCH_RISK, check_sample_ratio


def test_the_chi_square_p_value_equals_that_of_scipy() -> None:
    assigned = [("p", "warm")] * 170 + [("p", "cold")] * 30
    found = check_sample_ratio(assigned, {"warm": 0.8, "cold": 0.2})
    assert found.whole.p == pytest.approx(chisquare([170, 30], [160, 40]).pvalue)
    assert not found.broken
    assert (found.whole.counts, found.whole.expected) == ({"warm": 170, "cold": 30}, {"warm": 160.0, "cold": 40.0})


def test_looking_after_every_session_keeps_false_alarms_within_the_risk() -> None:
    """300 looks at fair assignments, at a risk of 5 %."""
    random = np.random.default_rng(0)
    alarms = 0
    for _ in range(150):
        arms = random.random(300) < 0.8
        warm = np.cumsum(arms)
        lowest = min(
            check_sample_ratio(
                [("", "warm")] * int(warm[look]) + [("", "cold")] * int(look + 1 - warm[look]),
                {"warm": 0.8, "cold": 0.2},
            ).whole.always_p
            for look in range(0, 300, 3)
        )
        alarms += lowest < 0.05
    assert alarms <= 14


def test_a_broken_split_is_found_with_its_stratum() -> None:
    """A fifth of the cold sessions of one project is lost."""
    assigned = [("a", "warm")] * 800 + [("a", "cold")] * 200 + [("b", "warm")] * 1600 + [("b", "cold")] * 250
    found = check_sample_ratio(assigned, {"warm": 0.8, "cold": 0.2})
    assert found.broken
    assert found.whole.always_p < MISMATCH_RISK
    assert "most in `b`" in found.sentence


def test_each_epoch_is_checked_against_its_own_shares() -> None:
    assigned = [("1", "warm")] * 80 + [("1", "cold")] * 20 + [("2", "warm")] * 50 + [("2", "cold")] * 50
    shares = {"1": {"warm": 0.8, "cold": 0.2}, "2": {"warm": 0.5, "cold": 0.5}}
    found = check_sample_ratio(assigned, shares)
    assert not found.broken
    assert found.whole.p == pytest.approx(1.0)
    assert check_sample_ratio([*assigned, *[("2", "warm")] * 200], shares).broken


def test_no_session_is_no_mismatch_and_an_arm_without_a_share_is_refused() -> None:
    assert check_sample_ratio([], {"warm": 0.5, "cold": 0.5}).sentence == "No session has been assigned yet."
    with pytest.raises(UserError, match="`note`"):
        check_sample_ratio([("a", "note")], {"warm": 0.5, "cold": 0.5})
    with pytest.raises(UserError, match="`b`"):
        check_sample_ratio([("b", "warm")], {"a": {"warm": 1.0}})
