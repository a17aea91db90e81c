"""P-values corrected for many tests, in the same order."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from preheat.errors import UserError
from preheat.statistics.multiplicity import benjamini_hochberg, holm


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
