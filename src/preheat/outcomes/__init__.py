"""Judges the calls of a session."""

from preheat.outcomes.judge import VERSION, judge

__all__ = ["VERSION", "judge"]
