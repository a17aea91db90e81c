"""Keeps junk out of lessons. The rules are `preheat.calls.clean`, because advice to a running session keeps to them too."""

from preheat.calls.clean import dangerous, foreign, junk, one_line, orders, relative, transient

__all__ = ["dangerous", "foreign", "junk", "one_line", "orders", "relative", "transient"]
