"""The formulas, once: shares, tests, intervals, comparisons. Pure functions of numbers, for every layer.

No clock, no files, and no chance but from a seed that is given. `wilson`, `rates`, `fisher`, `multiplicity` and `lots`
are light, for the paths that must start at once; the other modules load numpy and scipy. What each formula assumes:
`docs/concepts/statistics.md`.
"""
