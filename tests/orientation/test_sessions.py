"""Orientation over a whole session: what is named once is not named again, and only what came after a list counts for it."""

from typing import NamedTuple

import pytest

from benchmarks.orientation_session import average, give_lists, measure_sessions


class Asked(NamedTuple):
    session: str = "s"
    number: int = 0
    is_telling: bool = True
    edited: frozenset[str] = frozenset()
    used: frozenset[str] = frozenset()
    read_before_edit: frozenset[str] = frozenset()
    reads: tuple[str, ...] = ()


def test_a_later_list_has_only_files_that_were_not_named() -> None:
    sure = {0: {"a": 0.5, "b": 0.02}, 1: {"a": 0.6, "c": 0.3, "d": 0.02}}
    assert give_lists([Asked(), Asked(number=1)], lambda case: sure[case.number]) == [["a", "b"], ["c"]]


def test_a_later_list_needs_a_surer_first_file_than_the_first_one() -> None:
    sure = {0: {"a": 0.07}, 1: {"b": 0.09}, 2: {"c": 0.11}}
    cases = [Asked(), Asked(number=1), Asked(number=2)]
    assert give_lists(cases, lambda case: sure[case.number]) == [["a"], [], ["c"]]


def test_a_prompt_without_a_telling_word_gets_no_list() -> None:
    assert give_lists([Asked(is_telling=False)], lambda case: {"a": 0.9}) == [[]]


def test_a_file_counts_only_if_a_list_had_it_before_the_session_opened_it() -> None:
    first = Asked(
        edited=frozenset("ab"), used=frozenset("abc"), reads=("c", "a", "c"), read_before_edit=frozenset("ac")
    )
    second = Asked(number=1, edited=frozenset("b"), used=frozenset("b"))  # it has opened a and c by now
    sure = {0: {"c": 0.5}, 1: {"a": 0.4, "b": 0.3}}
    found = average(measure_sessions([first, second], lambda case: sure[case.number]))
    assert found["recall"] == 0.5
    assert found["reads"] == pytest.approx(2 / 3)
    assert found["precision"] == pytest.approx((1.0 + 0.5) / 2)
    assert (found["lists"], found["files"]) == (2, 3)


def test_sessions_without_edits_do_not_count() -> None:
    assert average(measure_sessions([Asked(used=frozenset("a"))], lambda case: {"a": 0.9}))["recall"] is None
