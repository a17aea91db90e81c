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
        "named": 1.453, "symbol": 0.094, "content": 0.681, "content_place": 0.583, "path": 0.632, "name_share": 0.717,
        "whole_name": 0.36, "name_run": 0.3, "similar": 0.215, "similar_total": 0.452, "branch": 1.195, "recent": 0.382, "frequent": 0.502,
        "known": 0.618, "committed": 0.469, "commits": 0.149, "titles": 0.302, "titles_total": 0.256,
        "changed_with": -0.013, "together": 0.144, "twin": 0.153, "folder": 0.629, "test": -0.555, "document": -0.523,
    },
    0.819,
    -3.815,
)  # fmt: skip
"""Before a session has touched a file."""
LATER = Model(
    {
        "named": 0.574, "symbol": 0.404, "content": 0.268, "content_place": 0.471, "path": 0.45, "name_share": 0.643,
        "whole_name": 0.1, "name_run": 0.3, "similar": 0.32, "similar_total": 0.711, "branch": 0.445, "recent": 0.22, "frequent": 0.239,
        "known": 0.648, "committed": 0.295, "commits": 0.273, "titles": 0.227, "titles_total": 0.356, "changed_with": 0.746,
        "together": 0.476, "twin": 0.761, "folder": 1.269, "test": -0.276, "document": -0.226,
    },
    0.71,
    -3.962,
)  # fmt: skip
