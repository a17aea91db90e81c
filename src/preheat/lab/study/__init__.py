"""The study with a real model: warm against cold, placebo and note. Run by `python -m preheat.lab.study`, never part of the
product."""
