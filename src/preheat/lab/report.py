"""What a lab has shown: a plain sentence, the numbers behind it, and everything that stands against believing them. Pure.

Loads the statistics: import it where a result is asked for. The task is the unit: repeats only make its value surer.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from preheat.amounts import counted
from preheat.lab.levels import Level, level
from preheat.lab.plan import COLD, METRICS, STRATEGIES, LabPlan, items_of, order
from preheat.lab.problems import problems
from preheat.lab.state import Tried
from preheat.model.experiment import Estimate, MetricName, Unit, Verdict
from preheat.statistics.conclude import Conclusion, Guarded, Guardrail, conclude, figure, words_of
from preheat.statistics.dose import Doses, minimum_dose
from preheat.statistics.multiplicity import holm
from preheat.statistics.paired import Paired, paired

FEWEST = 6
"""Tasks below which no difference is told: with five, even five wins of five happen by chance in one of sixteen labs."""
GUARDRAILS: tuple[MetricName, ...] = ("tokens", "seconds")
WORSE = 0.1
"""The share by which a guardrail may get worse."""
_RISK = 0.05


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """An arm against another, over the tasks that both have."""

    estimate: Estimate
    verdict: Verdict
    sentence: str
    flips_p: float | None = None
    """From flipping the signs of the tasks' differences: asks for nothing but that arms could have been swapped."""
    corrected_p: float | None = None
    """The same when it is counted how many comparisons there are (Holm)."""
    mcnemar_p: float | None = None
    only: tuple[int, int] | None = None
    """Tasks that only the one passed, and only the other; where each was tried once."""


class Held(msgspec.Struct, frozen=True, kw_only=True):
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
    verdict: Verdict
    finished: bool
    runs: int
    planned: int
    plan: LabPlan
    """Without the texts that were given."""
    levels: tuple[Level, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    """In the metric of the plan; the first one decides."""
    others: tuple[Estimate, ...] = ()
    """The same first comparison in the other metrics: for looking, not for deciding."""
    guardrails: tuple[Guarded, ...] = ()
    doses: Doses | None = None
    fewest: str = ""
    """What the arms with k items say, in a sentence."""
    strategies: tuple[Held, ...] = ()
    groups: dict[str, dict[str, str]] = {}
    """By group and arm: how many runs passed."""
    endings: dict[str, dict[str, int]] = {}
    """By what became of a run that did not simply pass, and arm: how often."""
    contexts: dict[str, str] = {}
    """By arm: what was given."""
    delivered: str = ""
    problems: tuple[str, ...] = ()
    tried: tuple[Tried, ...] = ()


def report(plan: LabPlan, tried: Sequence[Tried]) -> Report:
    """What the runs show."""
    kept = whole_blocks(plan, tried)
    pairs = contrasts(plan.arms)
    found = [_paired(plan, kept, plan.metric, *pair) for pair in pairs]
    guards = _guards(plan, kept, pairs[0])
    comparisons = _compared(plan, found, guards)
    doses, fewest = _doses(plan, kept)
    planned = len(order(plan))
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
        levels=tuple(level(units(metric, kept), metric, arm, plan.repeats) for metric in METRICS for arm in plan.arms),
        comparisons=tuple(comparisons),
        others=tuple(
            _paired(plan, kept, metric, *pairs[0]).estimate for metric in METRICS if metric != plan.metric
        ),
        guardrails=conclude(found[0].estimate, plan.margin, guardrails=guards).guardrails,
        doses=doses,
        fewest=fewest,
        strategies=tuple(_held(plan, kept, arm) for arm in plan.arms if arm in STRATEGIES and arm != "none")
        if "none" in plan.arms
        else (),
        groups=_groups(plan, tried),
        endings=_endings(tried),
        contexts={arm: _given(plan, arm) for arm in plan.arms},
        delivered=_delivered(tried),
        problems=tuple(problems(plan, tried)),
        tried=tuple(tried),
    )  # fmt: skip


# What is compared.
def contrasts(arms: Sequence[str]) -> list[tuple[str, str]]:
    """Which arm is held against which; the first pair decides."""
    found = [("warm", other) for other in (COLD, "note", "placebo") if "warm" in arms and other in arms]
    found += [(arm, COLD) for arm in ("note", "placebo") if arm in arms and COLD in arms]
    found += [
        (arm, COLD) for arm in sorted(filter(items_of, arms), key=lambda arm: -(items_of(arm) or 0)) if COLD in arms
    ]
    base = "none" if "none" in arms else COLD
    found += [(arm, base) for arm in arms if arm in STRATEGIES and arm != base and base in arms]
    return found or [(arm, arms[0]) for arm in arms[1:]]


def whole_blocks(plan: LabPlan, tried: Iterable[Tried]) -> list[Tried]:
    """The runs of those tasks and repeats that every arm was set up for and has gone through."""
    blocks: dict[tuple[str, int], list[Tried]] = {}
    for each in tried:
        if each.status != "not set up":
            blocks.setdefault(each.cell.block, []).append(each)
    return [each for some in blocks.values() if len(some) == len(plan.arms) for each in some]


def units(metric: MetricName, tried: Iterable[Tried]) -> list[Unit]:
    """The runs in a metric. One whose transcript is missing says nothing of calls and tokens."""
    made = []
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
        made.append(Unit(session=each.cell.id, arm=each.arm, above=above, below=below, cluster=each.task, at=each.at))
    return made


def _paired(plan: LabPlan, kept: list[Tried], metric: MetricName, arm: str, against: str) -> Paired:
    return paired(units(metric, kept), metric=metric, arm=arm, against=against, seed=plan.seed)


# What is told.
def _compared(plan: LabPlan, found: list[Paired], guards: list[Guardrail]) -> list[Comparison]:
    chances = [each.flips_p for each in found if each.flips_p is not None]
    corrected = iter(holm(chances) if chances else [])
    made = []
    for number, each in enumerate(found):
        told = conclude(each.estimate, plan.margin, guardrails=guards if number == 0 else ())
        verdict, sentence = _told(each, told)
        made.append(
            Comparison(
                estimate=each.estimate,
                verdict=verdict,
                sentence=sentence,
                flips_p=each.flips_p,
                corrected_p=next(corrected) if each.flips_p is not None else None,
                mcnemar_p=each.mcnemar_p,
                only=each.discordant,
            )
        )
    return made


def _told(found: Paired, told: Conclusion) -> tuple[Verdict, str]:
    """Nothing is claimed from few tasks, nor where swapping the arms' names would have given the same often enough."""
    estimate = found.estimate
    if estimate.clusters < FEWEST:
        return "too little data", (
            f"Too little data: {_tasks(estimate.clusters)} tried with both {estimate.arm} and {estimate.against}; a difference"
            f" is told from {FEWEST} on{_seen(estimate)}."
        )
    if told.verdict in ("helps", "hurts") and found.flips_p is not None and found.flips_p > _RISK:
        return "too little data", (
            f"Too little data: as large a difference of {estimate.arm} and {estimate.against} comes by chance in"
            f" {100 * found.flips_p:.0f} of 100 labs{_seen(estimate)}."
        )
    return told.verdict, told.sentence


def _tasks(number: int) -> str:
    return f"{number} task{' was' if number == 1 else 's were'}"


def _seen(estimate: Estimate) -> str:
    if estimate.level is None or estimate.base is None:
        return ""
    words = words_of(estimate.metric)
    one, other = (
        f"{figure(value * words.times)}{' %' if words.times == 100 else ''}"
        for value in (estimate.level, estimate.base)
    )
    return f" (so far {estimate.metric} {one} and {other})"


def _guards(plan: LabPlan, kept: list[Tried], pair: tuple[str, str]) -> list[Guardrail]:
    found = [_paired(plan, kept, metric, *pair).estimate for metric in GUARDRAILS if metric != plan.metric]
    return [Guardrail(each, WORSE * each.base) for each in found if each.base and each.clusters >= FEWEST]


def _doses(plan: LabPlan, kept: list[Tried]) -> tuple[Doses | None, str]:
    """The fewest items that do as well as the most."""
    by_items = {count: arm for arm in plan.arms if (count := items_of(arm))}
    if len(by_items) < 2:
        return None, ""
    words = words_of(plan.metric)
    per_arm = {count: units(plan.metric, (each for each in kept if each.arm == arm)) for count, arm in by_items.items()}
    found = minimum_dose(per_arm, margin=plan.margin, better=words.better, seed=plan.seed)
    tasks = found.doses[0].tasks if found.doses else 0
    most, limit = max(by_items), f"{figure(plan.margin * words.times)} {words.noun}"
    if tasks < FEWEST or found.fewest is None:
        return found, f"Too little data for the fewest items: {_tasks(tasks)} tried with every number of them."
    if found.fewest == most:
        return found, f"No smaller number of items is shown to do as well as {most}, within {limit}."
    return found, f"{found.fewest} item{'s do' if found.fewest > 1 else ' does'} as well as {most}, within {limit}."


def _held(plan: LabPlan, kept: list[Tried], arm: str) -> Held:
    """A shorter past session against the whole of it."""
    found = _paired(plan, kept, plan.metric, arm, "none")
    words = words_of(plan.metric)
    limit = f"{figure(plan.margin * words.times)} {words.noun}"
    estimate = found.estimate
    if estimate.clusters < FEWEST or estimate.low is None or estimate.high is None:
        return Held(
            arm=arm,
            against="none",
            not_inferior=None,
            sentence=f"`{arm}`: too little data ({counted(estimate.clusters, 'task')})",
        )
    tested = found.margin(plan.margin, words.better)
    within = estimate.high < plan.margin if words.better == "lower" else estimate.low > -plan.margin
    holds = tested.not_inferior if tested is not None else within
    said = "is not worse" if holds else "is not shown to be no worse"
    return Held(
        arm=arm,
        against="none",
        not_inferior=holds,
        p=tested.not_inferior_p if tested is not None else None,
        sentence=f"`{arm}` {said} than `none` by more than {limit}",
    )


# What was done.
def _given(plan: LabPlan, arm: str) -> str:
    some = [each for each in plan.given.get(arm, {}).values() if each.context]
    if not some:
        return "nothing"
    tokens = [each.tokens for each in some]
    reach = f"{min(tokens):,}" if min(tokens) == max(tokens) else f"{min(tokens):,} to {max(tokens):,}"
    items = [each.items for each in some if each.items]
    with_items = (
        f", {min(items)}{f' to {max(items)}' if max(items) > min(items) else ''} item{'s' if max(items) > 1 else ''}"
        if items
        else ""
    )
    return f"{reach} tokens{with_items}, for {len(some)} of {counted(len(plan.tasks), 'task')}"


def _endings(tried: Iterable[Tried]) -> dict[str, dict[str, int]]:
    found: dict[str, Counter[str]] = {}
    for each in tried:
        kinds = [each.status] if each.status not in ("passed", "done") else []
        for kind in (*kinds, *([each.ending] if each.ending != "well" else [])):
            found.setdefault(kind, Counter())[each.arm] += 1
    return {kind: dict(counts) for kind, counts in sorted(found.items())}


def _groups(plan: LabPlan, tried: Iterable[Tried]) -> dict[str, dict[str, str]]:
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


def _delivered(tried: Sequence[Tried]) -> str:
    """The proof that arms got what they should."""
    looked = [each for each in tried if each.sessions]
    given = [each for each in looked if each.context]
    right = sum(each.delivered for each in given)
    without = [each for each in looked if not each.context]
    clean = sum(each.delivered for each in without)
    return (
        f"{right} of {len(given)} transcripts show the context that was to be given; {clean} of {len(without)} that were to be"
        " given nothing show none"
    )
