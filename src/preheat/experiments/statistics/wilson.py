"""Wilson: the interval of a share. Knows nothing but two counts."""

from math import sqrt

from scipy.special import ndtri


def wilson(hits: float, total: float, risk: float = 0.05) -> tuple[float, float]:
    """The ends of Wilson's score interval; of no trials, everything."""
    if total <= 0:
        return 0.0, 1.0
    z = float(ndtri(1 - risk / 2))
    share = hits / total
    middle = (share + z * z / (2 * total)) / (1 + z * z / total)
    reach = z / (1 + z * z / total) * sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    return max(0.0, min(share, middle - reach)), min(1.0, max(share, middle + reach))
