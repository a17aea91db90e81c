"""The statistical formulas: shares, tests, intervals, comparisons. Pure functions of numbers, for every layer.

No clock, no files, and randomness only from a given seed. Modules that paths with a quick start use import neither numpy nor
scipy, and say so. What each formula assumes: `docs/concepts/statistics.md`.
"""
