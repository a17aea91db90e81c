"""What a randomised comparison says: pure functions of numbers. No clock, no files, and no chance but from a seed that is given.

Loads numpy and scipy: import these modules inside the function that needs them. Formulas: `docs/concepts/statistics.md`.
"""
