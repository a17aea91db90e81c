"""Rates with intervals, and the trend of a rate."""

from math import isfinite, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preheat.model.profile import Rate
from preheat.statistics.rates import fit_trend, rate_of


@pytest.mark.parametrize(
    ("count", "total", "low", "high"),
    [(3, 34, 0.0305, 0.2296), (0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (1, 2, 0.0945, 0.9055), (50, 100, 0.4038, 0.5962)],
)  # fmt: skip
def test_wilson_gives_the_published_intervals(count: int, total: int, low: float, high: float) -> None:
    rate = rate_of(count, total)
    assert rate.value == count / total
    assert rate.low == pytest.approx(low, abs=1e-4)
    assert rate.high == pytest.approx(high, abs=1e-4)


def test_a_rate_of_nothing_has_no_value() -> None:
    assert rate_of(0, 0) == Rate(0, 0, None, None, None)


@given(st.integers(0, 10**7).flatmap(lambda total: st.tuples(st.integers(0, total), st.just(total))))
def test_an_interval_contains_its_rate_and_stays_within_0_and_1(numbers: tuple[int, int]) -> None:
    """Also at 0 and 1, where rounding would put a bound on the wrong side."""
    rate = rate_of(*numbers)
    if numbers[1]:
        assert rate.low is not None
        assert rate.value is not None
        assert rate.high is not None
        assert 0 <= rate.low <= rate.value <= rate.high <= 1


@given(st.lists(st.booleans(), max_size=60))
def test_the_trend_equals_least_squares_with_whites_standard_error(hits: list[bool]) -> None:
    """The closed forms give the same as sums over all positions."""
    found = fit_trend([place for place, hit in enumerate(hits) if hit], len(hits))
    if len(hits) < 10 or len(set(hits)) < 2:
        assert found is None
        return
    assert found is not None
    total = len(hits)
    centred = [place - (total - 1) / 2 for place in range(total)]
    mean, squares = sum(hits) / total, sum(each**2 for each in centred)
    slope = sum(each * hit for each, hit in zip(centred, hits, strict=True)) / squares
    rest = [hit - mean - slope * each for each, hit in zip(centred, hits, strict=True)]
    scatter = sum((each * left) ** 2 for each, left in zip(centred, rest, strict=True))
    deviation = sqrt(scatter * total / (total - 2)) / squares
    assert found.slope == pytest.approx(100 * slope, abs=1e-9)
    assert found.high - found.slope == pytest.approx(found.slope - found.low, abs=1e-9)
    assert 1.96 * 100 * deviation <= found.high - found.slope + 1e-6
    assert found.high - found.slope <= 2.31 * 100 * deviation + 1e-6  # Student's point at 8 degrees is 2.306
    assert all(map(isfinite, found))


def test_a_session_that_gets_better_has_a_falling_trend() -> None:
    found = fit_trend([0, 1, 2, 3, 5, 8], 100)
    assert found is not None
    assert found.high < 0
