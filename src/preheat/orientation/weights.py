"""The weights of the measures, and how a score becomes a probability.

Fitted by `benchmarks/orientation_fit.py` on 2026-11-18 with the measures as of commit 8a75d8f, on 372 first and 902 later prompts
with edits, of the eleven repositories in docs/concepts/orientation.md. The figures there are those of weights that were fitted
without the project measured.
"""

WEIGHTS: dict[str, float] = {
    "named": 1.351, "symbol": 0.03, "content": 0.571, "content_place": 0.602, "path": 0.525, "name_share": 0.71,
    "whole_name": 0.285, "similar": 0.273, "similar_total": 0.619, "branch": 0.889, "recent": 0.478, "frequent": 0.436,
    "known": 0.667, "committed": 0.376, "commits": 0.384, "changed_with": 0.647, "together": 0.221, "twin": 0.448,
    "folder": 0.887, "test": -0.497, "document": -0.49,
}  # fmt: skip
SLOPE, OFFSET = 0.803, -4.095
"""The probability of a score is that of the logistic function at `SLOPE * score + OFFSET`."""
