"""Fisher's exact test of two shares."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from preheat.statistics.fisher import fisher, fisher_one_sided


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
