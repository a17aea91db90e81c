"""P-values corrected for many tests. Knows no metric; imports neither numpy nor scipy."""

from collections.abc import Sequence

from preheat.errors import UserError


def holm(chances: Sequence[float]) -> list[float]:
    """Holm's corrected p-values, in the same order: the probability that any is below `risk` by chance is at most `risk`."""
    order = _ascending(chances)
    corrected = [1.0] * len(order)
    most = 0.0
    for rank, place in enumerate(order):
        most = max(most, (len(order) - rank) * chances[place])
        corrected[place] = min(most, 1.0)
    return corrected


def benjamini_hochberg(chances: Sequence[float]) -> list[float]:
    """Benjamini and Hochberg's corrected p-values, in the same order: of those below `risk`, on average at most that share are
    there by chance."""
    order = _ascending(chances)
    corrected = [1.0] * len(order)
    least = 1.0
    for rank in range(len(order), 0, -1):
        place = order[rank - 1]
        least = min(least, chances[place] * len(order) / rank)
        corrected[place] = least
    return corrected


def _ascending(chances: Sequence[float]) -> list[int]:
    """The indexes of the p-values, the smallest first."""
    if not all(0 <= chance <= 1 for chance in chances):
        raise UserError("a p-value lies between 0 and 1; one of these does not")
    return sorted(range(len(chances)), key=lambda place: (chances[place], place))
