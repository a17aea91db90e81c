"""Leaves a session unchanged, for comparison with the other strategies."""

from preheat.compress.values import Strategy
from preheat.compress.view import View
from preheat.model.session import Session


def _keep_everything(seen: View, keep: int) -> Session:
    return seen.session


NONE = Strategy("none", 0, "", "The history as it is.", _keep_everything)
