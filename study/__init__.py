"""The study with a real model: warm against cold, placebo and note. Run by `python -m study`, never part of the product."""
