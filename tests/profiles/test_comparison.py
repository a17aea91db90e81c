"""Two sides compared: known truths are found, noise is not, and nothing breaks on little."""

import math
from collections.abc import Sequence

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from preheat.model.comparison import Comparison
from preheat.model.profile import CallRecord
from preheat.profiles.comparison import MEASURES, Counts, compare_sessions, compare_sets, count_calls


def record(letter: str, seq: int = 0, seconds: float = 2.0) -> CallRecord:
    """`.` worked, `x` a mistake, `f` a finding, `r` a mistake that was recovered from, `?` unknown, `b` bookkeeping."""
    failed = letter in "xfr"
    return CallRecord(
        seq=seq, tool="Read", kind="read", activity="read", message=seq, era=0, bookkeeping=letter == "b",
        status="failed" if failed else ("unknown" if letter == "?" else "ok"), rung="flag", exit_code=None, signature="",
        cause=("finding" if letter == "f" else "mistake") if failed else None, confidence=1.0, repeated=False, reread=False,
        seconds=1.0, lost_seconds=seconds if letter in "xr" else 0.0, lost_tokens=50 if letter in "xr" else 0,
        recovered_in=1 if letter == "r" else None,
    )  # fmt: skip


def records(letters: str, seconds: float = 2.0) -> list[CallRecord]:
    return [record(letter, seq, seconds) for seq, letter in enumerate(letters)]


def by_name(comparison: Comparison) -> dict[str, object]:
    return {each.measure: each for each in comparison.differences}


def test_counts_leave_bookkeeping_out_and_unknown_calls_out_of_rates() -> None:
    counts = count_calls(records("..xfr??b"))
    assert (counts.calls, counts.judged, counts.failures, counts.mistakes, counts.recovered) == (7, 5, 3, 2, 1)
    assert (counts.lost_seconds, counts.lost_tokens, counts.avoidable, counts.timed) == (4.0, 100, 2, 7)


def test_a_clear_difference_of_two_sessions_is_shown() -> None:
    found = compare_sessions(("a", records("x." * 40)), ("b", records("." * 78 + "xx")))
    errors = found.differences[0]
    assert (errors.a_count, errors.a_total, errors.b_count, errors.b_total) == (40, 80, 2, 80)
    assert (found.verdict, errors.finding) == ("a is higher", "a is higher")
    assert errors.low is not None
    assert errors.p is not None
    assert errors.low > 0.3
    assert errors.p < 0.001


def test_the_same_rates_show_no_difference() -> None:
    letters = "...x" * 20
    found = compare_sessions(("a", records(letters)), ("b", records(letters)))
    assert found.verdict == "no difference shown"
    assert found.differences[0].p == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("a", "b"), [("", "...x" * 9), (".", "...x" * 9), ("????????", "...x" * 9), ("bbbbbb", "."), ("", "")]
)
def test_too_little_data_gives_no_verdict(a: str, b: str) -> None:
    """No calls, one call, only unknown outcomes, only notes: no interval, no test, no verdict."""
    found = compare_sessions(("a", records(a)), ("b", records(b)))
    errors = found.differences[0]
    assert (found.verdict, errors.low, errors.high, errors.p) == ("too little data", None, None, None)


def test_unrecorded_times_are_unknown_not_zero() -> None:
    """An agent that records no times would otherwise look as if its failures were free."""
    found = compare_sessions(("a", records("x.r." * 10, seconds=0.0)), ("b", records("x.r." * 10)))
    lost = {each.measure: (each.a, each.b, each.finding) for each in found.differences}
    assert lost["time lost per call"] == (None, 1.0, "too little data")
    assert lost["tokens lost per call"][2] == "no difference shown"


def sessions_of(random: np.random.Generator, number: int, rate: float, mean: int) -> list[Counts]:
    """Sessions of unequal length whose rates differ around the given one."""
    found = []
    for own in random.beta(20 * rate, 20 * (1 - rate), number):
        calls = int(random.geometric(1 / mean))
        found.append(Counts(calls=calls, judged=calls, failures=int(random.binomial(calls, own))))
    return found


def test_sets_of_unequal_sessions_rarely_differ_by_chance() -> None:
    """Ten short sessions against forty long ones of the same rate: a permutation of plain differences fails here."""
    random = np.random.default_rng(5)
    wrong = 0
    for _ in range(60):
        sides = sessions_of(random, 10, 0.08, 10), sessions_of(random, 40, 0.08, 60)
        wrong += compare_sets(("a", sides[0]), ("b", sides[1])).verdict != "no difference shown"
    assert wrong <= 6


def test_sets_that_differ_show_a_difference() -> None:
    random = np.random.default_rng(6)
    found = compare_sets(("a", sessions_of(random, 60, 0.05, 40)), ("b", sessions_of(random, 60, 0.20, 40)))
    assert found.verdict == "b is higher"


def test_calls_of_one_session_do_not_pass_for_independent_ones() -> None:
    """One bad session among six is an accident, however many calls it has."""
    fine = [Counts(calls=100, judged=100, failures=5)] * 6
    accident = [*fine[:5], Counts(calls=100, judged=100, failures=80)]
    assert compare_sets(("a", fine), ("b", accident)).verdict == "no difference shown"


def test_four_sessions_are_too_few() -> None:
    four = [Counts(calls=500, judged=500, failures=50)] * 4
    assert compare_sets(("a", four), ("b", four * 5)).verdict == "too little data"


def test_the_same_data_gives_the_same_numbers() -> None:
    random = np.random.default_rng(7)
    a, b = sessions_of(random, 20, 0.1, 20), sessions_of(random, 20, 0.1, 20)
    assert compare_sets(("a", a), ("b", b)) == compare_sets(("a", a), ("b", b))


counts_of_any_kind = st.builds(
    lambda calls, shares, seconds: Counts(
        calls=calls, judged=int(calls * shares[0]), failures=int(int(calls * shares[0]) * shares[1]),
        mistakes=0, repeats=int(calls * shares[1]), reads=int(calls * shares[1]), lost_seconds=seconds, timed=calls,
    ),
    st.integers(0, 50), st.tuples(st.floats(0, 1), st.floats(0, 1)), st.floats(0, 1e6),
)  # fmt: skip


@settings(max_examples=25, deadline=None)
@given(st.lists(counts_of_any_kind, max_size=12), st.lists(counts_of_any_kind, max_size=12))
def test_any_two_sets_give_numbers_or_none(a: Sequence[Counts], b: Sequence[Counts]) -> None:
    """Empty sets, empty sessions, all failures: never a NaN, and a difference lies in its interval."""
    found = compare_sets(("a", a), ("b", b))
    assert len(found.differences) == len(MEASURES)
    for each in found.differences:
        for value in (each.a, each.b, each.difference, each.low, each.high, each.p):
            assert value is None or math.isfinite(value)
        if each.low is not None and each.high is not None and each.difference is not None:
            assert each.low <= each.difference <= each.high
            assert each.p is not None
            assert 0 < each.p <= 1
    assert msgspec.json.decode(msgspec.json.encode(found), type=Comparison) == found
