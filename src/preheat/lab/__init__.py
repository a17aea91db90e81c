"""The lab: comparisons of arms on the same tasks with a real agent, training on tasks, anonymous datasets.

Knows neither the archive nor how contexts are made: `app` passes these in.
"""
