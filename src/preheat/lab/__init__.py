"""The lab: the same tasks in every arm, with a real agent, and what that shows; training on tasks; datasets for others to study.

Knows neither the archive nor how contexts are made: that is handed over by `app`.
"""
