"""Reports of experiments on a terminal: the sentence, the numbers behind it, and reasons not to trust them.

Knows no formula.
"""

from typing import TYPE_CHECKING, Any

import msgspec

from preheat.cli.screen import clean, console, say
from preheat.cli.text import columns, count, day
from preheat.model.experiment import SHARES, EffectEstimate
from preheat.model.experiment_report import ExperimentReport

if TYPE_CHECKING:
    from rich.console import Console

_COLOURS = {"helps": "green", "hurts": "red"}

_WIDE = 110
"""Columns of a terminal from which on all columns of the table are shown."""
_ARMS, _TWO_ARMS = 1, 2
_NARROW_COLUMNS = (0, 2, 3, 4, 6)
"""Of a narrower one: the metric, both levels, their difference, and the interval that holds whenever one looks."""


def with_all_fields(value: Any) -> Any:
    """A value for JSON with all its fields, also those that are left out on disk because they have their default,
    and under their present names: on disk some keep those of version 0.1.0."""
    if isinstance(value, msgspec.Struct):
        return {name: with_all_fields(getattr(value, name)) for name in value.__struct_fields__}
    if isinstance(value, dict):
        return {name: with_all_fields(each) for name, each in value.items()}
    return [with_all_fields(each) for each in value] if isinstance(value, list | tuple) else value


def show_report_summary(screen: "Console", found: ExperimentReport) -> None:
    """Print the sentence, the number of sessions in each arm, and problems."""
    say(screen, clean(found.sentence), _COLOURS.get(found.verdict, "bold"))
    say(screen, f"  {_describe_arms(found)}", "dim")
    for problem in found.problems:
        say(screen, f"  ! {clean(problem)}", "yellow")


def show_report(found: ExperimentReport) -> None:
    """Print the whole report."""
    screen = console()
    say(screen, clean(found.sentence), _COLOURS.get(found.verdict, "bold"))
    say(screen)
    plan = found.plan
    since = f"since {day(found.since)}" if plan.at or any(found.assigned.values()) else "no session yet"
    title = since if plan.is_holdout else f"{found.state}, {since}"
    say(screen, f"{found.name} ({title}): {_describe_arms(found)}")
    end = f"after {plan.sessions:,} sessions" if plan.sessions else "none" if plan.is_holdout else "when you stop it"
    say(
        screen,
        f"  decided by {plan.metric}, margin {format_metric(plan.metric, plan.margin)}, planned end {end}",
        "dim",
    )
    if not any(found.assigned.values()):  # every number would be missing
        for problem in found.problems:
            say(screen, f"  ! {clean(problem)}", "yellow")
        return
    rows = [["  metric", "arms", "level", "against", "difference", "95 %, one look", "95 %, any look", "p"]]
    rows += [_row(each) for each in found.estimates]
    rows += [_row(each) for each in found.guardrail_estimates]
    rows += [_row(each, found.corrected.get(each.metric)) for each in found.secondary]
    names_arms = screen.width >= _WIDE or len(found.assigned) > _TWO_ARMS
    if screen.width < _WIDE:
        kept = sorted({*_NARROW_COLUMNS, *([_ARMS] if names_arms else [])})
        rows = [[row[place] for place in kept] for row in rows]
    for index, line in enumerate(columns(rows, left=2 if names_arms else 1)):
        say(screen, line, "" if index and index <= len(found.estimates) else "dim")
    _notes(screen, found)


def _notes(screen: "Console", found: ExperimentReport) -> None:
    if any(each.adjusted for each in (*found.estimates, *found.guardrail_estimates, *found.secondary)):
        adjusted = (
            "differences are adjusted for what was known before the trial, so they are not simply level minus against"
        )
        say(screen, f"  {adjusted}", "dim")
    if found.corrected:
        say(screen, "  p of the secondary metrics is corrected for their number (Holm)", "dim")
    for guard in found.guardrails:
        say(screen, f"  guardrail {clean(guard.sentence)}", "red" if guard.state == "broken" else "")
    say(screen, f"  {clean(found.ratios)}", "red" if found.ratios_broken else "")
    delivered = ", ".join(f"{number:,} {arm}" for arm, number in found.deliveries.items())
    say(screen, f"  got a context: {delivered}; had none to get: {found.nothing_to_give:,}")
    if len(found.epochs) > 1:
        for epoch in found.epochs:
            shares = ", ".join(f"{arm} {share:.0%}" for arm, share in epoch.shares.items())
            assigned = ", ".join(f"{number:,} {arm}" for arm, number in epoch.assigned.items())
            say(screen, f"  {day(epoch.since)} to {day(epoch.until)}: planned {shares}; assigned {assigned}")
    remarks = dict.fromkeys(remark for each in found.estimates for remark in (each.why, *each.remarks) if remark)
    for remark in remarks:
        say(screen, f"  {clean(remark)}", "dim")
    for problem in found.problems:
        say(screen, f"  ! {clean(problem)}", "yellow")


def _describe_arms(found: ExperimentReport) -> str:
    arms = ", ".join(f"{number:,} {arm} ({found.measured[arm]:,} measured)" for arm, number in found.assigned.items())
    return f"{arms} in {count(found.projects, 'project')}"


def _row(each: EffectEstimate, corrected: float | None = None) -> list[str]:
    p = each.p if corrected is None else corrected
    return [
        f"  {each.metric}",
        f"{each.arm} - {each.against} ({each.units[0]:,}, {each.units[1]:,})",
        format_metric(each.metric, each.level),
        format_metric(each.metric, each.base),
        format_metric(each.metric, each.difference, sign=True),
        _interval(each.metric, each.low, each.high),
        _interval(each.metric, each.always_low, each.always_high),
        "" if p is None else f"{p:.3f}" if p >= 0.001 else "<0.001",
    ]


def _interval(metric: str, low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return "-"
    return f"{format_metric(metric, low, sign=True)} to {format_metric(metric, high, sign=True)}"


def format_metric(metric: str, value: float | None, sign: bool = False) -> str:
    """A value of a metric for people: shares in percent, other numbers unchanged."""
    if value is None:
        return "-"
    plus = "+" if sign else ""
    if metric in SHARES:
        return f"{100 * value:{plus}.1f} %"
    if metric == "corrections":
        return f"{value:{plus}.2f}"
    return f"{value:{plus},.0f}{' s' if metric == 'seconds' else ''}"
