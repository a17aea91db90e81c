"""The lab: the same tasks in every arm, with a real agent, and what that shows; and training on tasks.

Knows neither the archive nor how contexts are made: that is handed over by `app`.
"""
