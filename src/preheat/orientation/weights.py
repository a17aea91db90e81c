"""The weights of the measures, and how a score becomes a probability: one model before a session has touched a file, one after.

Fitted by `benchmarks/orientation_fit.py`.
"""

from typing import NamedTuple


class Model(NamedTuple):
    """A ranking model."""

    weights: dict[str, float]
    slope: float
    offset: float
    """The probability of a score is that of the logistic function at `slope * score + offset`."""


FIRST = Model(
    {
        "named": 1.351, "symbol": 0.03, "content": 0.571, "content_place": 0.602, "path": 0.525, "name_share": 0.71,
        "whole_name": 0.285, "similar": 0.273, "similar_total": 0.619, "branch": 0.889, "recent": 0.478, "frequent": 0.436,
        "known": 0.667, "committed": 0.376, "commits": 0.384, "titles": 0.4, "titles_total": 0.2, "changed_with": 0.647,
        "together": 0.221, "twin": 0.448, "folder": 0.887, "test": -0.497, "document": -0.49,
    },
    0.803,
    -4.095,
)  # fmt: skip
LATER = FIRST
