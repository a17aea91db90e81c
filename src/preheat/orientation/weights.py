"""The weights of the measures, and how a score becomes a probability: one model before a session has touched a file, one after.

Fitted by `benchmarks/orientation_fit.py` on 2026-11-18, on first and later prompts of the eleven repositories in
docs/concepts/orientation.md. The figures there are those of weights that were fitted without the project measured.
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
        "named": 1.294, "symbol": -0.032, "content": 0.66, "content_place": 0.527, "path": 0.524, "name_share": 0.739,
        "whole_name": 0.295, "name_run": 0.724, "similar": 0.205, "similar_total": 0.407, "branch": 1.176,
        "recent": 0.379, "frequent": 0.465, "known": 0.606, "committed": 0.474, "commits": 0.181, "titles": 0.295,
        "titles_total": 0.255, "changed_with": -0.014, "together": 0.193, "twin": 0.167, "folder": 0.698,
        "test": -0.589, "document": -0.498,
    },
    0.805,
    -3.77,
)  # fmt: skip
"""Before a session has touched a file."""
LATER = Model(
    {
        "named": 0.381, "symbol": 0.417, "content": 0.262, "content_place": 0.445, "path": 0.377, "name_share": 0.608,
        "whole_name": 0.082, "name_run": 0.976, "similar": 0.316, "similar_total": 0.698, "branch": 0.438,
        "recent": 0.222, "frequent": 0.228, "known": 0.641, "committed": 0.302, "commits": 0.299, "titles": 0.23,
        "titles_total": 0.358, "changed_with": 0.743, "together": 0.467, "twin": 0.755, "folder": 1.278,
        "test": -0.294, "document": -0.214,
    },
    0.738,
    -4.117,
)  # fmt: skip
