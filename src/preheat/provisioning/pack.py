"""Fits items into a budget: most value for the tokens. Knows no lesson.

Greedy by value per token, and by value alone, whichever gives more: where single items are small against the budget that is
as good as exact. Nothing is left out that would still fit.
"""

from collections.abc import Sequence

from preheat.model.context import Item


def pack(items: Sequence[Item], budget: int, first: frozenset[str] = frozenset()) -> list[Item]:
    """The items that are taken, in the order given; those named in `first` (by lesson) before all others."""
    dense = _taken(
        sorted(items, key=lambda each: (each.lesson not in first, -each.value / each.tokens, each.lesson)), budget
    )
    dear = _taken(sorted(items, key=lambda each: (each.lesson not in first, -each.value, each.lesson)), budget)
    taken = {each.lesson for each in (dense if _value(dense) >= _value(dear) else dear)}
    return [each for each in items if each.lesson in taken]


def _taken(ordered: Sequence[Item], budget: int) -> list[Item]:
    taken = []
    for each in ordered:
        if each.tokens <= budget:
            taken.append(each)
            budget -= each.tokens
    return taken


def _value(items: Sequence[Item]) -> float:
    return sum(each.value for each in items)
