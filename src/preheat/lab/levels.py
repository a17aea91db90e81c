"""How an arm did by itself: a level with an interval over its tasks. Knows no comparison."""

from collections.abc import Sequence
from math import inf, sqrt

import msgspec
import numpy as np
from msgspec.structs import replace

from preheat.model.experiment import SHARES, MetricName, Observation
from preheat.statistics.paired import values_by_task
from preheat.statistics.spread import student_quantile
from preheat.statistics.wilson import wilson


class ArmLevel(msgspec.Struct, frozen=True, kw_only=True):
    metric: str
    arm: str
    runs: int
    tasks: int
    value: float | None = None
    low: float | None = None
    high: float | None = None
    method: str = ""


def arm_level(units: Sequence[Observation], metric: MetricName, arm: str, repeats: int) -> ArmLevel:
    """Of an arm's units in a metric: Wilson's interval where each task was tried once and passed or not; else Student's t over
    the tasks' values."""
    found = [each for each in units if each.arm == arm]
    values = np.array(list(values_by_task(found, arm).values()))
    count = len(values)
    bare = ArmLevel(metric=metric, arm=arm, runs=len(found), tasks=count)
    if not count:
        return bare
    mean = float(values.mean())
    spread = float(values.std(ddof=1)) / sqrt(count) if count > 1 else 0.0
    if metric == "success" and (repeats == 1 or spread <= 0):
        low, high = wilson(mean * count, count)
        return replace(bare, value=mean, low=low, high=high, method="Wilson over tasks")
    if count < 2 or spread <= 0:
        return replace(bare, value=mean)
    reach = float(student_quantile(float(count - 1), 0.05)) * spread
    low, high = max(0.0, mean - reach), min(1.0 if metric in SHARES else inf, mean + reach)
    return replace(bare, value=mean, low=low, high=high, method="t over tasks")
