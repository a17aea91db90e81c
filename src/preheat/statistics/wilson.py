"""Wilson's interval of a share. Knows two counts only; imports neither numpy nor scipy: the model and quick paths use it."""

from math import sqrt

NORMAL_95 = 1.959963984540054
"""The half-width of the central 95 % of a normal distribution, in standard deviations."""


def wilson(hits: float, total: float, deviations: float = NORMAL_95) -> tuple[float, float]:
    """The ends of Wilson's score interval, which stays within 0 and 1 and holds for small counts; (0, 1) without trials."""
    if total <= 0:
        return 0.0, 1.0
    share = hits / total
    square = deviations * deviations
    middle = (share + square / (2 * total)) / (1 + square / total)
    reach = deviations * sqrt(share * (1 - share) / total + square / (4 * total * total)) / (1 + square / total)
    # Rounding must not put an end on the wrong side of the share.
    return min(max(middle - reach, 0.0), share), max(min(middle + reach, 1.0), share)
