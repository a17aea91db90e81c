"""A lab's report on a terminal: the sentence, the numbers behind it, and what stands against believing them. Knows no formula."""

from typing import TYPE_CHECKING

from preheat.app.lab.labs import METRICS, LabPlan
from preheat.cli.experiment_cards import format_metric
from preheat.cli.screen import clean, console, say
from preheat.cli.text import columns, count, day
from preheat.model.experiment import EffectEstimate

if TYPE_CHECKING:
    from rich.console import Console

    from preheat.app.lab.labs import ArmLevel, Report

_COLOURS = {"helps": "green", "hurts": "red"}


def show_lab_report(found: "Report") -> None:
    screen = console()
    plan = found.plan
    say(screen, clean(found.sentence), _COLOURS.get(found.verdict, "bold"))
    for sentence in filter(None, (found.dose_sentence, *(held.sentence + "." for held in found.strategies))):
        say(screen, clean(sentence))
    say(screen)
    about = f"{found.runs} of {count(found.planned, 'run')}, {count(len(plan.tasks), 'task')}, {plan.repeats} each"
    say(screen, clean(f"{found.name} (since {day(plan.at)}): {about}, by {plan.agent} with {plan.model}"))
    place = "before the prompt" if plan.give == "prompt" else "as a file"
    decision = f"decided by {plan.metric}, margin {format_metric(plan.metric, plan.margin)}"
    say(screen, f"  {decision}; seed {plan.seed}; contexts are given {place}", "dim")
    for sentence in describe_limits(plan):
        say(screen, f"  {sentence}", "dim")
    _show_levels(screen, found)
    _show_comparisons(screen, found)
    _show_doses(screen, found)
    _show_endings(screen, found)


def describe_limits(plan: LabPlan) -> list[str]:
    """The limits of a run, and which of them are not enforced."""
    found = []
    for most, noun in ((plan.turns, "turn"), (plan.tokens, "token")):
        if most:
            loose = f": not enforced, with {plan.agent} only measured" if f"{noun}s" in plan.unenforced else ""
            found.append(f"at most {count(most, noun)} a run{loose}")
    return found


def _show_levels(screen: "Console", found: "Report") -> None:
    arms: dict[str, dict[str, ArmLevel]] = {}
    for each in found.levels:
        arms.setdefault(each.arm, {})[each.metric] = each
    rows = [["  arm", "given", "runs", *METRICS]]
    for arm, by in arms.items():
        runs = max(each.runs for each in by.values())
        rows.append([f"  {arm}", found.contexts.get(arm, ""), str(runs), *(_level(by[metric]) for metric in METRICS)])
    say(screen)
    for line in columns(rows, left=2):
        say(screen, clean(line))


def _level(each: "ArmLevel") -> str:
    if each.value is None:
        return "-"
    if each.low is None or each.high is None:
        return format_metric(each.metric, each.value)
    low, high = (format_metric(each.metric, end).removesuffix(" %").removesuffix(" s") for end in (each.low, each.high))
    return f"{format_metric(each.metric, each.value)} ({low} to {high})"


def _show_comparisons(screen: "Console", found: "Report") -> None:
    rows = [["  difference", "arms (tasks)", "", "95 %", "p, by sign flips", "p, corrected", "verdict"]]
    for each in found.comparisons:
        estimate = each.estimate
        rows.append([*_estimate_row(estimate), _p_value(each.flips_p), _p_value(each.corrected_p), each.verdict])
    rows += ([*_estimate_row(estimate), "", "", ""] for estimate in found.others)
    say(screen)
    for index, line in enumerate(columns(rows, left=2)):
        say(screen, clean(line), "" if index and index <= len(found.comparisons) else "dim")
    for each in found.comparisons[1:]:
        say(screen, f"  {clean(each.sentence)}")
    for guard in found.guardrails:
        say(screen, f"  guardrail {clean(guard.sentence)}", "red" if guard.state == "broken" else "")


def _estimate_row(estimate: EffectEstimate) -> list[str]:
    metric = estimate.metric
    interval = "-"
    if estimate.low is not None and estimate.high is not None:
        interval = (
            f"{format_metric(metric, estimate.low, sign=True)} to {format_metric(metric, estimate.high, sign=True)}"
        )
    pair = f"{estimate.arm} - {estimate.against} ({estimate.clusters})"
    return [f"  {metric}", pair, format_metric(metric, estimate.difference, sign=True), interval]


def _p_value(p: float | None) -> str:
    return "" if p is None else f"{p:.3f}" if p >= 0.001 else "<0.001"


def _show_doses(screen: "Console", found: "Report") -> None:
    if found.doses is None or not found.doses.doses:
        return
    metric = found.plan.metric
    rows = [["  items", metric, "fitted", "95 %"]]
    for dose in found.doses.doses:
        interval = f"{format_metric(metric, dose.low)} to {format_metric(metric, dose.high)}"
        rows.append(
            [f"  {dose.items}", format_metric(metric, dose.level), format_metric(metric, dose.fitted), interval]
        )
    say(screen)
    for line in columns(rows, left=1):
        say(screen, clean(line))


def _show_endings(screen: "Console", found: "Report") -> None:
    say(screen)
    for group, arms in found.groups.items():
        say(screen, clean(f"  {group}: " + ", ".join(f"{arm} {share} passed" for arm, share in arms.items())))
    for kind, counts in found.endings.items():
        say(screen, clean(f"  {kind}: " + ", ".join(f"{times} {arm}" for arm, times in counts.items())))
    say(screen, f"  {clean(found.delivered)}")
    for problem in found.problems:
        say(screen, f"  ! {clean(problem)}", "yellow")
