"""The effect by the number of lessons, and the smallest number that is as good as the largest (the minimum viable warm-up).

Tasks are the same for every number of lessons, so differences are paired. From the largest number downwards each is compared
with the largest; the first that may be worse by more than the margin ends the search. Tests in an order fixed beforehand need
no correction. Knows nothing of how tasks are run.
"""

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
from scipy.optimize import isotonic_regression

from preheat.amounts import format_count
from preheat.errors import UserError
from preheat.model.experiment import Observation
from preheat.statistics.inferiority import BetterDirection, Inferiority, compare_with_margin
from preheat.statistics.paired import values_by_task
from preheat.statistics.sample import Numbers, make_sample


class Dose(msgspec.Struct, frozen=True):
    """The metric with one number of lessons."""

    items: int
    tasks: int
    level: float
    fitted: float
    """By isotonic regression: more lessons are never worse."""
    low: float
    high: float
    """The ends of the fitted value's 95 % interval, from resampling tasks."""
    inferiority: Inferiority | None
    """Compared with the largest number; None for that one, and where no task differs."""


class DoseCurve(msgspec.Struct, frozen=True):
    doses: tuple[Dose, ...]
    fewest: int | None
    """The smallest number of lessons that is not worse than the largest by more than the margin."""
    share: float
    """In which share of resamples the fitted values give that number or a smaller one: near 1 it is certain."""
    why: str


def minimum_dose(
    by_items: Mapping[int, Sequence[Observation]],
    *,
    margin: float,
    better: BetterDirection,
    seed: int = 0,
    draws: int = 2000,
    risk: float = 0.05,
) -> DoseCurve:
    """Find the smallest sufficient number of lessons. `by_items`: the sessions with each number; their `cluster` is the task."""
    numbers = sorted(by_items)
    if len(numbers) < 2:
        raise UserError(
            "an effect against the number of items needs two numbers of items or more; run the lab with more"
        )
    if not margin > 0:
        raise UserError(f"a margin is more than nothing, {margin:g} is not; give the smallest difference that matters")
    values = {number: _values(number, by_items[number]) for number in numbers}
    tasks = sorted(set.intersection(*(set(each) for each in values.values())))
    if len(tasks) < 2:
        tried = f"{format_count(len(tasks), 'task')} tried with every number of items"
        return DoseCurve((), None, 0.0, f"{tried}: two or more are needed")
    table = np.array([[values[number][task] for number in numbers] for task in tasks])
    sign = 1.0 if better == "higher" else -1.0
    draw = np.random.default_rng(seed).integers(0, len(tasks), size=(draws, len(tasks)))
    fits = np.array([_fit(table[chosen].mean(0) * sign) for chosen in draw]) * sign
    fitted = _fit(table.mean(0) * sign) * sign
    low, high = np.quantile(fits, [risk / 2, 1 - risk / 2], axis=0)
    inferiorities = [
        _compare_with_margin(table[:, place] - table[:, -1], margin, better, risk / 2)
        for place in range(len(numbers) - 1)
    ]
    fewest = numbers[-1]
    for place in range(len(numbers) - 2, -1, -1):
        inferiority = inferiorities[place]
        if not (inferiority.not_inferior if inferiority else bool(np.all(table[:, place] == table[:, -1]))):
            break
        fewest = numbers[place]
    near = fits[:, numbers.index(fewest)] * sign >= fits[:, -1] * sign - margin
    doses = tuple(
        Dose(
            number,
            len(tasks),
            float(table[:, place].mean()),
            float(fitted[place]),
            min(float(low[place]), float(fitted[place])),
            max(float(high[place]), float(fitted[place])),
            inferiorities[place] if place < len(inferiorities) else None,
        )
        for place, number in enumerate(numbers)
    )
    return DoseCurve(doses, fewest, float(near.mean()), "")


def _values(number: int, units: Sequence[Observation]) -> dict[str, float]:
    arm = f"{number} items"
    for each in units:
        if not each.cluster:
            raise UserError(
                f"session `{each.session}` names no task; numbers of items are held together by the task (`cluster`)"
            )
    same = [
        Observation(session=each.session, arm=arm, above=each.above, below=each.below, cluster=each.cluster)
        for each in units
    ]
    make_sample(same, arm, "")  # raises for values that are no number
    return values_by_task(same, arm)


def _fit(rising: Numbers) -> Numbers:
    return np.asarray(isotonic_regression(rising).x, dtype=float)


def _compare_with_margin(gaps: Numbers, margin: float, better: BetterDirection, risk: float) -> Inferiority | None:
    error = float(gaps.std(ddof=1)) / len(gaps) ** 0.5
    if error <= 0:
        return None
    return compare_with_margin(float(gaps.mean()), error, float(len(gaps) - 1), margin, better=better, risk=risk)
