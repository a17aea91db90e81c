"""The lab: comparisons on tasks, templates trained on tasks, anonymous datasets."""
