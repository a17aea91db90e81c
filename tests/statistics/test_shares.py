"""Shares: intervals, trends, the exact test, and corrections for many tests agree with scipy and statsmodels."""

from math import isfinite, sqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from hypothesis import strategies as st

from preheat.errors import UserError
from preheat.model.profile import Rate
from preheat.statistics.shares import benjamini_hochberg, fisher, fisher_one_sided, fit_trend, holm, rate_of


# Rates with intervals, and the trend of a rate.
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


# Fisher's exact test of two shares.
@settings(deadline=None)  # the library is slow to load
@given(some.integers(1, 60), some.integers(1, 60), some.data())
def test_the_p_values_equal_those_of_scipy(total: int, other_total: int, data: some.DataObject) -> None:
    stats = pytest.importorskip("scipy.stats")
    hits = data.draw(some.integers(0, total))
    other_hits = data.draw(some.integers(0, other_total))
    table = [[hits, total - hits], [other_hits, other_total - other_hits]]
    for ours, alternative in ((fisher_one_sided, "greater"), (fisher, "two-sided")):
        expected = stats.fisher_exact(table, alternative=alternative).pvalue
        assert ours(hits, total, other_hits, other_total) == pytest.approx(expected, rel=1e-6, abs=1e-12)


def test_tables_of_tens_of_thousands_do_not_overflow() -> None:
    assert 0.0 <= fisher(20_000, 30_000, 100, 30_000) < 1e-100
    assert fisher(15_000, 30_000, 15_000, 30_000) == pytest.approx(1.0)
    assert 0.0 <= fisher_one_sided(20_000, 30_000, 100, 30_000) < 1e-100
    assert fisher_one_sided(15_000, 30_000, 15_000, 30_000) == pytest.approx(0.503, abs=0.01)


# P-values corrected for many tests, in the same order.
@settings(deadline=None, max_examples=30)  # the library is slow to load
@given(some.lists(some.floats(0, 1), max_size=25))
def test_corrected_p_values_equal_those_of_statsmodels(chances: list[float]) -> None:
    from statsmodels.stats.multitest import multipletests

    for ours, method in ((holm, "holm"), (benjamini_hochberg, "fdr_bh")):
        expected = list(multipletests(chances, method=method)[1]) if chances else []
        assert ours(chances) == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_a_value_that_is_no_p_value_is_refused() -> None:
    for bad in (float("nan"), 1.1, -0.1):
        with pytest.raises(UserError, match="p-value"):
            holm([0.1, bad])
