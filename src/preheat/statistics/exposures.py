"""Which exposures of a lesson count: shown or withheld at random, once in each session. Knows no formula."""

from collections.abc import Iterable

from preheat.model.experiment import Exposure

FEWEST_SESSIONS = 10
"""Sessions with and without a lesson below which nothing is estimated: intervals are unreliable with fewer."""
_LOPSIDED = 0.01
"""Exposures with a probability closer than this to 0 or 1 do not count: they are hardly random."""


def first_exposures(exposures: Iterable[Exposure]) -> list[Exposure]:
    """The first exposure of each item in each session: later ones may depend on what the first one did."""
    first: dict[tuple[str, str], Exposure] = {}
    for each in sorted(exposures, key=_order):
        if _LOPSIDED <= each.probability <= 1 - _LOPSIDED:
            first.setdefault((each.item, each.session), each)
    return list(first.values())


def _order(each: Exposure) -> tuple[str, str, float, bool, float]:
    return (each.item, each.session, float("inf") if each.at is None else each.at, each.shown, each.probability)
