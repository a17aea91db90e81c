"""The lab: comparisons on tasks of a person, templates trained on tasks, anonymous datasets."""
