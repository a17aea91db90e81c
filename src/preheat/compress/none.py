"""Leaves a session as it is: what the others are compared with."""

from preheat.compress.values import Strategy
from preheat.compress.view import View
from preheat.model.session import Session


def shorten(seen: View, keep: int) -> Session:
    """The session itself."""
    return seen.session


NONE = Strategy("none", 0, "", "The history as it is.", shorten)
