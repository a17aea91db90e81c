"""The same tasks in two arms, or with several numbers of lessons, as in the lab. The task is the unit; repeats make its mean
surer.

Beside Student's t over the tasks' differences stand sign flips, Wilcoxon, and McNemar's exact test. The smallest sufficient
number of lessons is found from the largest downwards: tests in an order fixed beforehand need no correction.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import sqrt

import msgspec
import numpy as np
from scipy.optimize import isotonic_regression
from scipy.special import ndtri
from scipy.stats import binomtest, wilcoxon

from preheat.amounts import format_count
from preheat.errors import UserError
from preheat.model.experiment import EffectEstimate, Observation
from preheat.statistics.arms import Numbers, make_sample, p_value, student_quantile
from preheat.statistics.effect import replace_fields
from preheat.statistics.shares import wilson
from preheat.statistics.verdict import BetterDirection, Inferiority, compare_with_margin

PAIRED_RISK = 0.05
_ALL_SIGNS = 14
"""Up to this many tasks all sign flips are tried."""


class PairedComparison(msgspec.Struct, frozen=True):
    """A paired comparison."""

    estimate: EffectEstimate
    differences: dict[str, float]
    """Value in the arm minus value in the other, by task."""
    bootstrap: tuple[float, float] | None
    """The interval from resampling tasks."""
    flips_p: float | None
    """From flipping the signs of the tasks' differences."""
    wilcoxon_p: float | None
    mcnemar_p: float | None
    """None where tasks were repeated or the metric is not binary."""
    discordant: tuple[int, int] | None
    """Tasks that only the arm passed, and that only the other did."""
    shares: tuple[tuple[float, float], tuple[float, float]] | None
    """Wilson's intervals of the two arms, where the metric is binary and no task was repeated."""

    def compare_with_margin(self, margin: float, better: BetterDirection = "lower") -> Inferiority | None:
        """Whether the arm is not worse by more than the margin; None where there is no variance."""
        estimate = self.estimate
        if estimate.difference is None or estimate.error is None or estimate.freedom is None:
            return None
        return compare_with_margin(estimate.difference, estimate.error, estimate.freedom, margin, better=better)


def compare_paired(
    units: Iterable[Observation],
    *,
    metric: str,
    arm: str,
    against: str,
    seed: int = 0,
    draws: int = 4000,
    risk: float = PAIRED_RISK,
) -> PairedComparison:
    """Compare `arm` with `against` over the tasks (`cluster`) that both have. A task's value is `Σ above / Σ below`."""
    units = list(units)
    for each in units:
        if not each.cluster:
            raise UserError(
                f"session `{each.session}` names no task; paired arms are held together by the task (`cluster`)"
            )
    sample = make_sample(units, arm, against)
    one, other = (values_by_task(units, name) for name in (arm, against))
    tasks = sorted(one.keys() & other.keys())
    remarks = tuple(text for text in sample.remarks if "cluster" not in text) + _remark_on_unpaired_tasks(
        one, other, arm, against
    )
    levels = [float(np.mean([values[task] for task in tasks])) if tasks else None for values in (one, other)]
    gaps = np.array([one[task] - other[task] for task in tasks])
    base = EffectEstimate(
        metric=metric,
        arm=arm,
        against=against,
        units=sample.units,
        level=levels[0],
        base=levels[1],
        difference=float(gaps.mean()) if tasks else None,
        method="paired t over tasks",
        why={0: "no task was tried in both arms", 1: "one task only: a spread needs two"}.get(len(tasks), ""),
        clusters=len(tasks),
        remarks=remarks,
    )
    single = _tried_once(units, tasks, arm, against)
    estimate = _student_t(base, gaps, risk, is_binary=single)
    random = np.random.default_rng(seed)
    spread = len(tasks) > 1 and float(np.ptp(gaps)) > 0
    passed = [tuple(round(values[task]) for task in tasks) for values in (one, other)] if single else [(), ()]
    discordant = (
        (sum(a > b for a, b in zip(*passed, strict=True)), sum(a < b for a, b in zip(*passed, strict=True)))
        if single
        else None
    )
    return PairedComparison(
        estimate,
        dict(zip(tasks, (float(gap) for gap in gaps), strict=True)),
        _bootstrap(gaps, draws, random, risk) if spread else None,
        sign_flip_p(gaps, draws, random) if len(tasks) > 1 else None,
        _wilcoxon(gaps) if len(tasks) > 1 else None,
        mcnemar(*discordant) if discordant else None,
        discordant,
        _share_intervals(passed, risk) if single else None,
    )


def _share_intervals(passed: Sequence[tuple[int, ...]], risk: float) -> tuple[tuple[float, float], tuple[float, float]]:
    deviations = float(ndtri(1 - risk / 2))
    one, other = (wilson(sum(each), len(each), deviations) for each in passed)
    return one, other


def values_by_task(units: Iterable[Observation], arm: str) -> dict[str, float]:
    """Each task's value in an arm."""
    sums: dict[str, list[float]] = {}
    for each in units:
        if each.arm == arm and each.below > 0:
            task_sums = sums.setdefault(each.cluster, [0.0, 0.0])
            task_sums[0] += each.above
            task_sums[1] += each.below
    return {task: above / below for task, (above, below) in sums.items()}


def mcnemar(only_one: int, only_other: int) -> float:
    """McNemar's exact two-sided p-value of the tasks on which the arms differ."""
    total = only_one + only_other
    return float(binomtest(only_one, total).pvalue) if total else 1.0


def sign_flip_p(gaps: Numbers, draws: int, random: np.random.Generator) -> float:
    """The p-value from flipping signs: all combinations where tasks are few, else random ones and the observed one."""
    count = len(gaps)
    if count <= _ALL_SIGNS:
        signs = 1 - 2 * ((np.arange(2**count)[:, None] >> np.arange(count)) & 1)
    else:
        signs = 1 - 2 * random.integers(0, 2, size=(draws, count))
    sums = np.abs(signs @ gaps)
    as_far = int((sums >= abs(float(gaps.sum())) * (1 - 1e-9)).sum())
    return as_far / len(signs) if count <= _ALL_SIGNS else (as_far + 1) / (draws + 1)


def _student_t(base: EffectEstimate, gaps: Numbers, risk: float, *, is_binary: bool) -> EffectEstimate:
    if base.why:
        return base
    count, center = len(gaps), float(gaps.mean())
    error = float(gaps.std(ddof=1)) / sqrt(count)
    if error <= 1e-12 * max(1e-300, float(np.abs(gaps).max())):
        remarks = (*base.remarks, f"all {count} tasks differ by the same ({center:g})")
        if not is_binary:
            return replace_fields(
                base, remarks=remarks, why="no task differs from another: there is no spread to measure by"
            )
        # All tasks go the same way, so tasks that go another way are rarer than this.
        rare = 1 - (risk / 2) ** (1 / count)
        low, high = (
            max(-1.0, center - 2 * rare if center > 0 else center - rare),
            min(1.0, center + 2 * rare if center < 0 else center + rare),
        )
        return replace_fields(
            base, low=low, high=high, remarks=remarks, method="exact bound on tasks that go another way"
        )
    reach = float(student_quantile(float(count - 1), risk)) * error
    return replace_fields(
        base,
        low=center - reach,
        high=center + reach,
        p=float(p_value(center, error, float(count - 1))),
        error=error,
        freedom=float(count - 1),
    )


def _bootstrap(gaps: Numbers, draws: int, random: np.random.Generator, risk: float) -> tuple[float, float]:
    """The bootstrap interval: percentiles of the mean, widened for small counts by √(n/(n-1))."""
    count = len(gaps)
    means = gaps[random.integers(0, count, size=(draws, count))].mean(1)
    low, high = np.quantile(means, [risk / 2, 1 - risk / 2])
    center, wider = float(gaps.mean()), sqrt(count / (count - 1))
    return min(center, center + (float(low) - center) * wider), max(center, center + (float(high) - center) * wider)


def _wilcoxon(gaps: Numbers) -> float:
    if not np.any(gaps):
        return 1.0
    return float(wilcoxon(gaps, zero_method="pratt", method="approx").pvalue)


def _tried_once(units: Iterable[Observation], tasks: list[str], arm: str, against: str) -> bool:
    wanted = set(tasks)
    tried = [each for each in units if each.arm in (arm, against) and each.cluster in wanted and each.below > 0]
    return (
        len(tried) == 2 * len(tasks) and bool(tasks) and all(each.below == 1 and each.above in (0, 1) for each in tried)
    )


def _remark_on_unpaired_tasks(
    one: Mapping[str, float], other: Mapping[str, float], arm: str, against: str
) -> tuple[str, ...]:
    remarks = []
    for name, only in ((arm, one.keys() - other.keys()), (against, other.keys() - one.keys())):
        if only:
            few = ", ".join(f"`{task}`" for task in sorted(only)[:3]) + (" …" if len(only) > 3 else "")
            remarks.append(f"{format_count(len(only), 'task')} tried in `{name}` only, left out: {few}")
    return tuple(remarks)


# Numbers of lessons (the minimum viable warm-up).
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
    """The metric by the number of lessons."""

    doses: tuple[Dose, ...]
    fewest: int | None
    """The smallest number of lessons that is not worse than the largest by more than the margin."""
    share: float
    """In which share of resamples the fitted values give that number or a smaller one: near 1 it is certain."""
    why: str
    """Why there is no curve."""


def find_minimum_dose(
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
