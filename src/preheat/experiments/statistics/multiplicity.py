"""Multiplicity: what is left of p-values when many were looked at. Knows no metric."""

from collections.abc import Sequence

import numpy as np
from scipy.stats import false_discovery_control

from preheat.errors import UserError


def holm(chances: Sequence[float]) -> list[float]:
    """Holm's p-values, in the order given: below `risk`, and by chance that happens to any of them in that share of trials."""
    values = _checked(chances)
    order = np.argsort(values, kind="stable")
    stepped = np.maximum.accumulate((len(values) - np.arange(len(values))) * values[order])
    corrected = np.empty_like(values)
    corrected[order] = np.minimum(stepped, 1.0)
    return [float(value) for value in corrected]


def benjamini_hochberg(chances: Sequence[float]) -> list[float]:
    """Benjamini and Hochberg's: of those below `risk`, on the average at most that share is there by chance."""
    values = _checked(chances)
    return [float(value) for value in false_discovery_control(values)] if len(values) else []


def _checked(chances: Sequence[float]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    values = np.asarray(chances, dtype=float)
    if not ((values >= 0) & (values <= 1)).all():
        raise UserError("a p-value lies between 0 and 1; one of these does not")
    return values
