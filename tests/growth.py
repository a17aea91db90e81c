"""Checks that the cost of a computation grows in proportion to its input.

The cost is the processor time of this thread in one run, so neither the speed nor the load of the machine matters. Knows nothing
of what is computed.
"""

import time
from collections.abc import Callable

import pytest

TIMES = 8
"""How much larger the large input is: a cost in proportion grows by this, one with the square by 64."""
MOST = 3 * TIMES
"""The largest growth that passes. A busy machine shares its caches, and what fits into one is quick."""
_FLOOR = 0.02
"""Seconds under which the large input is no cost at all."""
_ATTEMPTS = 6


def grows_in_proportion(work: Callable[[str], object], text: str) -> None:
    """Fail if a text costs far more than its length says, beside an eighth of it.

    Other programs can make a measurement larger, never smaller: the least of several counts, and more are made only while
    they show too much.
    """
    small, large = text[: len(text) // TIMES], text
    costs = [float("inf"), float("inf")]
    work(small)  # loading and compiling at the first call is no cost of the text
    for number in range(_ATTEMPTS):  # another text each time: a cached one costs nothing
        texts = (f"{number}{small}", f"{number}{large}")
        costs = [min(cost, _cost(work, each)) for cost, each in zip(costs, texts, strict=True)]
        if costs[1] < MOST * costs[0] + _FLOOR:
            return
    pytest.fail(
        f"{TIMES} times the text costs {costs[1] / costs[0]:.0f} times as much ({costs[0]:.4f} s, {costs[1]:.4f} s "
        f"of processor): {text[:40]!r}…"
    )


def _cost(work: Callable[[str], object], text: str) -> float:
    start = time.thread_time()
    work(text)
    return time.thread_time() - start
