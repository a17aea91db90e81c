"""How an arm did by itself: a level with an interval over its tasks. Knows no comparison."""

from collections.abc import Callable, Iterable
from math import sqrt

import msgspec
import numpy as np

from preheat.experiments.statistics.paired import by_task
from preheat.experiments.statistics.spread import quantile
from preheat.experiments.statistics.wilson import wilson
from preheat.lab.plan import LabPlan
from preheat.lab.state import Tried
from preheat.model.experiment import MetricName, Unit

_SHARES = frozenset(["success", "misuse", "errors"])


class Level(msgspec.Struct, frozen=True, kw_only=True):
    metric: str
    arm: str
    runs: int
    tasks: int
    value: float | None = None
    low: float | None = None
    high: float | None = None
    method: str = ""


def level(
    plan: LabPlan,
    kept: Iterable[Tried],
    metric: MetricName,
    arm: str,
    units: Callable[[MetricName, Iterable[Tried]], list[Unit]],
) -> Level:
    """Wilson's interval where each task was tried once and passed or not; else Student's t over the tasks' values."""
    found = [each for each in units(metric, kept) if each.arm == arm]
    values = np.array(list(by_task(found, arm).values()))
    count = len(values)
    if not count:
        return Level(metric=metric, arm=arm, runs=len(found), tasks=0)
    mean = float(values.mean())
    spread = float(values.std(ddof=1)) / sqrt(count) if count > 1 else 0.0
    if metric == "success" and (plan.repeats == 1 or spread <= 0):
        low, high = wilson(mean * count, count)
        return _level(metric, arm, found, count, mean, low, high, "Wilson over tasks")
    if count < 2 or spread <= 0:
        return Level(metric=metric, arm=arm, runs=len(found), tasks=count, value=mean)
    reach = float(quantile(float(count - 1), 0.05)) * spread
    low, high = max(0.0, mean - reach), mean + reach
    return _level(metric, arm, found, count, mean, low, min(1.0, high) if metric in _SHARES else high, "t over tasks")


def _level(
    metric: str, arm: str, found: list[Unit], count: int, mean: float, low: float, high: float, method: str
) -> Level:
    return Level(
        metric=metric, arm=arm, runs=len(found), tasks=count, value=mean, low=low, high=high, method=method
    )  # fmt: skip
