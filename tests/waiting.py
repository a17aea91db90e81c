"""Waiting in a test for another process or thread, and the time after which a program counts as hung.

No test may depend on the speed of the machine: a test fails only if what it waits for never happens. Knows nothing of what is
waited for.
"""

import time
from collections.abc import Callable
from typing import TypeVar

import pytest

Value = TypeVar("Value")

HUNG = 300.0
"""Seconds after which a program that has not ended or answered counts as hung. No measure of speed."""
_LOOK = 0.02


def until(condition: Callable[[], Value], what: str, seconds: float = HUNG) -> Value:
    """Wait until the condition holds and return its value; if it never does, the test fails and names `what` it waited for."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        if time.monotonic() > end:
            pytest.fail(f"waited {seconds:g} s for this, which did not come: {what}")
        time.sleep(_LOOK)
    return found
