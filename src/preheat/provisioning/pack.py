"""Chooses the items with the most value that fit a budget of tokens. Knows no lesson.

Greedy by value per token and by value alone, whichever gives more: nearly exact while items are small. No item is left
out that would still fit.
"""

from collections.abc import Sequence

from preheat.model.context import ContextLesson


def pack(items: Sequence[ContextLesson], budget: int, first: frozenset[str] = frozenset()) -> list[ContextLesson]:
    """The items that fit, in their original order; items of the lessons in `first` are chosen before all others."""
    by_density = _fill(
        sorted(items, key=lambda each: (each.lesson not in first, -each.value / each.tokens, each.lesson)), budget
    )
    by_value = _fill(sorted(items, key=lambda each: (each.lesson not in first, -each.value, each.lesson)), budget)
    chosen = {each.lesson for each in (by_density if _total_value(by_density) >= _total_value(by_value) else by_value)}
    return [each for each in items if each.lesson in chosen]


def _fill(ordered: Sequence[ContextLesson], budget: int) -> list[ContextLesson]:
    taken = []
    for each in ordered:
        if each.tokens <= budget:
            taken.append(each)
            budget -= each.tokens
    return taken


def _total_value(items: Sequence[ContextLesson]) -> float:
    return sum(each.value for each in items)
