"""Which draws of an item count: shown or withheld by lot, once in each session. Knows no formula."""

from collections.abc import Iterable

from preheat.model.exposure import Exposure

FEWEST = 10
"""Sessions with and without an item below which nothing is said of it: an interval is not to be relied on with fewer."""
_LOPSIDED = 0.01
"""A lot that falls one way more often than this tells nothing of the other way (and 0 or 1 is no lot at all)."""


def first_lots(exposures: Iterable[Exposure]) -> list[Exposure]:
    """The first lot of each item in each session: later ones may hang on what the first one did."""
    first: dict[tuple[str, str], Exposure] = {}
    for each in sorted(exposures, key=_order):
        if _LOPSIDED <= each.probability <= 1 - _LOPSIDED:
            first.setdefault((each.item, each.session), each)
    return list(first.values())


def _order(each: Exposure) -> tuple[str, str, float, bool, float]:
    return (each.item, each.session, float("inf") if each.at is None else each.at, each.shown, each.probability)
