"""Fitting items into a budget."""

from hypothesis import given
from hypothesis import strategies as st

from preheat.model.context import ContextLesson
from preheat.provisioning.pack import pack


def item(name: str, tokens: int, value: float) -> ContextLesson:
    return ContextLesson(lesson=name, kind="convention", text=name, tokens=tokens, value=value)


@st.composite
def items(draw: st.DrawFn) -> list[ContextLesson]:
    sizes = draw(st.lists(st.tuples(st.integers(1, 400), st.floats(0.01, 1)), max_size=20))
    return [item(f"l{number}", tokens, value) for number, (tokens, value) in enumerate(sizes)]


@given(items(), st.integers(-10, 1500))
def test_packed_items_fit_the_budget_and_no_other_item_would(given_items: list[ContextLesson], budget: int) -> None:
    taken = pack(given_items, budget)
    left = budget - sum(each.tokens for each in taken)
    assert left >= 0 or not taken
    assert all(each.tokens > left for each in given_items if each not in taken)
    assert taken == [each for each in given_items if each in taken]


@given(items(), st.integers(0, 1500), st.randoms(use_true_random=False))
def test_packing_does_not_depend_on_the_order_of_items(
    given_items: list[ContextLesson], budget: int, random: object
) -> None:
    shuffled = list(given_items)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert {each.lesson for each in pack(shuffled, budget)} == {each.lesson for each in pack(given_items, budget)}


def test_value_per_token_decides_what_is_packed() -> None:
    large, small, other = item("large", 100, 0.9), item("small", 40, 0.6), item("other", 50, 0.7)
    assert pack([large, small, other], 100) == [small, other]
    assert pack([large, item("trifle", 5, 0.1)], 100) == [large]


def test_pinned_items_are_packed_first() -> None:
    assert pack([item("good", 60, 1.0), item("mine", 60, 0.01)], 100, frozenset(["mine"]))[0].lesson == "mine"
