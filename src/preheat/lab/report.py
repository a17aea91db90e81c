"""The report of a lab: a plain sentence, the numbers behind it, and every reason to doubt them. Pure; knows no archive.

Loads the statistics: import it where a result is asked for. The task is the unit: repeats only make its value surer.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from math import inf, sqrt

import msgspec
import numpy as np
from msgspec.structs import replace

from preheat.amounts import format_count
from preheat.lab.plan import COLD, METRICS, STRATEGIES, LabPlan, item_count, plan_runs
from preheat.lab.problems import find_problems
from preheat.lab.state import RunResult
from preheat.model.experiment import SHARES, EffectEstimate, EffectVerdict, MetricName, Observation
from preheat.model.experiment_report import GuardrailStatus
from preheat.statistics.arms import student_quantile
from preheat.statistics.paired import DoseCurve, PairedComparison, compare_paired, find_minimum_dose, values_by_task
from preheat.statistics.shares import holm, wilson
from preheat.statistics.verdict import Conclusion, Guardrail, conclude, format_figure, words_of


class ArmLevel(msgspec.Struct, frozen=True, kw_only=True):
    """How an arm did by itself in a metric."""

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


FEWEST_TASKS = 6
"""The fewest tasks for a conclusion: with five, five wins of five happen by chance in one of sixteen labs."""
GUARDRAILS: tuple[MetricName, ...] = ("tokens", "seconds")
GUARDRAIL_MARGIN = 0.1
"""The share by which a guardrail may get worse."""
_RISK = 0.05


class ArmComparison(msgspec.Struct, frozen=True, kw_only=True):
    """An arm against another, over the tasks that both have."""

    estimate: EffectEstimate
    verdict: EffectVerdict
    sentence: str
    flips_p: float | None = None
    """By flipping the signs of the tasks' differences, which assumes only that arms could have been swapped."""
    corrected_p: float | None = None
    """The same when it is counted how many comparisons there are (Holm)."""
    mcnemar_p: float | None = None
    discordant: tuple[int, int] | None = None
    """Tasks that only the one passed, and only the other; where each was tried once."""


class NonInferiority(msgspec.Struct, frozen=True, kw_only=True):
    """Whether an arm is not worse than another by more than the margin."""

    arm: str
    against: str
    not_inferior: bool | None
    """None: that cannot be told."""
    p: float | None = None
    sentence: str


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """All that is known of a lab."""

    name: str
    sentence: str
    verdict: EffectVerdict
    finished: bool
    runs: int
    planned: int
    plan: LabPlan
    """Without the texts that were given."""
    levels: tuple[ArmLevel, ...] = ()
    comparisons: tuple[ArmComparison, ...] = ()
    """In the metric of the plan; the first one decides."""
    others: tuple[EffectEstimate, ...] = ()
    """The same first comparison in the other metrics: for looking, not for deciding."""
    guardrails: tuple[GuardrailStatus, ...] = ()
    doses: DoseCurve | None = None
    dose_sentence: str = ""
    """What the arms with k items say, in a sentence."""
    strategies: tuple[NonInferiority, ...] = ()
    groups: dict[str, dict[str, str]] = {}
    """By group and arm: how many runs passed."""
    endings: dict[str, dict[str, int]] = {}
    """By what became of a run that did not simply pass, and arm: how often."""
    contexts: dict[str, str] = {}
    """By arm: what was given."""
    delivered: str = ""
    problems: tuple[str, ...] = ()
    run_results: tuple[RunResult, ...] = ()


def make_report(plan: LabPlan, tried: Sequence[RunResult]) -> Report:
    """What the runs show."""
    kept = complete_blocks(plan, tried)
    pairs = contrasts(plan.arms)
    found = [_compare_paired(plan, kept, plan.metric, *pair) for pair in pairs]
    guards = _make_guardrails(plan, kept, pairs[0])
    comparisons = _compare_arms(plan, found, guards)
    doses, fewest = _doses(plan, kept)
    planned = len(plan_runs(plan))
    first = comparisons[0]
    sentence = (
        first.sentence if len(tried) >= planned else f"Not over yet ({len(tried)} of {planned} runs). {first.sentence}"
    )
    return Report(
        name=plan.name,
        sentence=sentence,
        verdict=first.verdict,
        finished=len(tried) >= planned,
        runs=len(tried),
        planned=planned,
        plan=msgspec.structs.replace(plan, texts={}),
        levels=tuple(arm_level(run_units(metric, kept), metric, arm, plan.repeats) for metric in METRICS for arm in plan.arms),
        comparisons=tuple(comparisons),
        others=tuple(
            _compare_paired(plan, kept, metric, *pairs[0]).estimate for metric in METRICS if metric != plan.metric
        ),
        guardrails=conclude(found[0].estimate, plan.margin, guardrails=guards).guardrails,
        doses=doses,
        dose_sentence=fewest,
        strategies=tuple(_non_inferiority(plan, kept, arm) for arm in plan.arms if arm in STRATEGIES and arm != "none")
        if "none" in plan.arms
        else (),
        groups=_groups(plan, tried),
        endings=_endings(tried),
        contexts={arm: _describe_contexts(plan, arm) for arm in plan.arms},
        delivered=_describe_deliveries(tried),
        problems=tuple(find_problems(plan, tried)),
        run_results=tuple(tried),
    )  # fmt: skip


# What is compared.
def contrasts(arms: Sequence[str]) -> list[tuple[str, str]]:
    """Which arm is held against which; the first pair decides."""
    found = [("warm", other) for other in (COLD, "note", "placebo") if "warm" in arms and other in arms]
    found += [(arm, COLD) for arm in ("note", "placebo") if arm in arms and COLD in arms]
    found += [
        (arm, COLD) for arm in sorted(filter(item_count, arms), key=lambda arm: -(item_count(arm) or 0)) if COLD in arms
    ]
    base = "none" if "none" in arms else COLD
    found += [(arm, base) for arm in arms if arm in STRATEGIES and arm != base and base in arms]
    return found or [(arm, arms[0]) for arm in arms[1:]]


def complete_blocks(plan: LabPlan, tried: Iterable[RunResult]) -> list[RunResult]:
    """The runs of the tasks and repeats that are finished in every arm."""
    blocks: dict[tuple[str, int], list[RunResult]] = {}
    for each in tried:
        if each.status != "not set up":
            blocks.setdefault(each.cell.block, []).append(each)
    return [each for runs in blocks.values() if len(runs) == len(plan.arms) for each in runs]


def run_units(metric: MetricName, tried: Iterable[RunResult]) -> list[Observation]:
    """The runs in a metric. One whose transcript is missing says nothing of calls and tokens."""
    units = []
    for each in tried:
        if metric == "success" and each.status == "done":
            continue
        if metric in ("mistakes", "errors", "tokens") and not each.sessions:
            continue
        above, below = {
            "success": (float(each.status == "passed"), 1.0),
            "mistakes": (float(each.mistakes), float(each.calls)),
            "errors": (float(each.errors), float(each.calls)),
            "seconds": (each.seconds, 1.0),
            "tokens": (float(each.tokens), 1.0),
        }[metric]
        units.append(
            Observation(session=each.cell.id, arm=each.arm, above=above, below=below, cluster=each.task, at=each.at)
        )
    return units


def _compare_paired(
    plan: LabPlan, kept: list[RunResult], metric: MetricName, arm: str, against: str
) -> PairedComparison:
    return compare_paired(run_units(metric, kept), metric=metric, arm=arm, against=against, seed=plan.seed)


# Conclusions.
def _compare_arms(plan: LabPlan, found: list[PairedComparison], guards: list[Guardrail]) -> list[ArmComparison]:
    chances = [each.flips_p for each in found if each.flips_p is not None]
    corrected = iter(holm(chances) if chances else [])
    comparisons = []
    for number, each in enumerate(found):
        conclusion = conclude(each.estimate, plan.margin, guardrails=guards if number == 0 else ())
        verdict, sentence = _verdict(each, conclusion)
        comparisons.append(
            ArmComparison(
                estimate=each.estimate,
                verdict=verdict,
                sentence=sentence,
                flips_p=each.flips_p,
                corrected_p=next(corrected) if each.flips_p is not None else None,
                mcnemar_p=each.mcnemar_p,
                discordant=each.discordant,
            )
        )
    return comparisons


def _verdict(found: PairedComparison, conclusion: Conclusion) -> tuple[EffectVerdict, str]:
    """The verdict and its sentence; too little data if there are few tasks, or if sign flips give the same often."""
    estimate = found.estimate
    if estimate.clusters < FEWEST_TASKS:
        return "too little data", (
            f"Too little data: {_tasks(estimate.clusters)} tried with both {estimate.arm} and {estimate.against}; a difference"
            f" is told from {FEWEST_TASKS} on{_describe_levels(estimate)}."
        )
    if conclusion.verdict in ("helps", "hurts") and found.flips_p is not None and found.flips_p > _RISK:
        return "too little data", (
            f"Too little data: as large a difference of {estimate.arm} and {estimate.against} comes by chance in"
            f" {100 * found.flips_p:.0f} of 100 labs{_describe_levels(estimate)}."
        )
    return conclusion.verdict, conclusion.sentence


def _tasks(number: int) -> str:
    return f"{number} task{' was' if number == 1 else 's were'}"


def _describe_levels(estimate: EffectEstimate) -> str:
    if estimate.level is None or estimate.base is None:
        return ""
    words = words_of(estimate.metric)
    one, other = (
        f"{format_figure(value * words.times)}{' %' if words.times == 100 else ''}"
        for value in (estimate.level, estimate.base)
    )
    return f" (so far {estimate.metric} {one} and {other})"


def _make_guardrails(plan: LabPlan, kept: list[RunResult], pair: tuple[str, str]) -> list[Guardrail]:
    found = [_compare_paired(plan, kept, metric, *pair).estimate for metric in GUARDRAILS if metric != plan.metric]
    return [
        Guardrail(each, GUARDRAIL_MARGIN * each.base) for each in found if each.base and each.clusters >= FEWEST_TASKS
    ]


def _doses(plan: LabPlan, kept: list[RunResult]) -> tuple[DoseCurve | None, str]:
    """The fewest items that do as well as the most."""
    by_items = {count: arm for arm in plan.arms if (count := item_count(arm))}
    if len(by_items) < 2:
        return None, ""
    words = words_of(plan.metric)
    per_arm = {
        count: run_units(plan.metric, (each for each in kept if each.arm == arm)) for count, arm in by_items.items()
    }
    found = find_minimum_dose(per_arm, margin=plan.margin, better=words.better, seed=plan.seed)
    tasks = found.doses[0].tasks if found.doses else 0
    most, limit = max(by_items), f"{format_figure(plan.margin * words.times)} {words.noun}"
    if tasks < FEWEST_TASKS or found.fewest is None:
        return found, f"Too little data for the fewest items: {_tasks(tasks)} tried with every number of them."
    if found.fewest == most:
        return found, f"No smaller number of items is shown to do as well as {most}, within {limit}."
    return found, f"{found.fewest} item{'s do' if found.fewest > 1 else ' does'} as well as {most}, within {limit}."


def _non_inferiority(plan: LabPlan, kept: list[RunResult], arm: str) -> NonInferiority:
    """A shorter past session against the whole of it."""
    found = _compare_paired(plan, kept, plan.metric, arm, "none")
    words = words_of(plan.metric)
    limit = f"{format_figure(plan.margin * words.times)} {words.noun}"
    estimate = found.estimate
    if estimate.clusters < FEWEST_TASKS or estimate.low is None or estimate.high is None:
        return NonInferiority(
            arm=arm,
            against="none",
            not_inferior=None,
            sentence=f"`{arm}`: too little data ({format_count(estimate.clusters, 'task')})",
        )
    tested = found.compare_with_margin(plan.margin, words.better)
    within = estimate.high < plan.margin if words.better == "lower" else estimate.low > -plan.margin
    is_not_worse = tested.not_inferior if tested is not None else within
    verdict = "is not worse" if is_not_worse else "is not shown to be no worse"
    return NonInferiority(
        arm=arm,
        against="none",
        not_inferior=is_not_worse,
        p=tested.not_inferior_p if tested is not None else None,
        sentence=f"`{arm}` {verdict} than `none` by more than {limit}",
    )


# Runs.
def _describe_contexts(plan: LabPlan, arm: str) -> str:
    contexts = [each for each in plan.contexts.get(arm, {}).values() if each.context]
    if not contexts:
        return "nothing"
    tokens = [each.tokens for each in contexts]
    reach = f"{min(tokens):,}" if min(tokens) == max(tokens) else f"{min(tokens):,} to {max(tokens):,}"
    items = [each.items for each in contexts if each.items]
    with_items = (
        f", {min(items)}{f' to {max(items)}' if max(items) > min(items) else ''} item{'s' if max(items) > 1 else ''}"
        if items
        else ""
    )
    return f"{reach} tokens{with_items}, for {len(contexts)} of {format_count(len(plan.tasks), 'task')}"


def _endings(tried: Iterable[RunResult]) -> dict[str, dict[str, int]]:
    found: dict[str, Counter[str]] = {}
    for each in tried:
        kinds = [each.status] if each.status not in ("passed", "done") else []
        for kind in (*kinds, *([each.ending] if each.ending != "well" else [])):
            found.setdefault(kind, Counter())[each.arm] += 1
    return {kind: dict(counts) for kind, counts in sorted(found.items())}


def _groups(plan: LabPlan, tried: Iterable[RunResult]) -> dict[str, dict[str, str]]:
    named = {task.id: task.group for task in plan.tasks if task.group}
    counts: dict[str, dict[str, list[int]]] = {}
    for each in tried:
        if each.task in named and each.status in ("passed", "not passed", "verify timed out"):
            held = counts.setdefault(named[each.task], {}).setdefault(each.arm, [0, 0])
            held[0] += each.status == "passed"
            held[1] += 1
    return {
        group: {arm: f"{arms[arm][0]} of {arms[arm][1]}" for arm in plan.arms if arm in arms}
        for group, arms in sorted(counts.items())
    }


def _describe_deliveries(tried: Sequence[RunResult]) -> str:
    """How many transcripts show the context that their arm should give."""
    looked = [each for each in tried if each.sessions]
    given = [each for each in looked if each.context]
    right = sum(each.was_delivered for each in given)
    without = [each for each in looked if not each.context]
    clean = sum(each.was_delivered for each in without)
    return (
        f"{right} of {len(given)} transcripts show the context that was to be given; {clean} of {len(without)} that were to be"
        " given nothing show none"
    )
