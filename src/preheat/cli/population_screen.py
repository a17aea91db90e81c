"""`preheat report profile` without a session: the reliability of agents over many sessions, with rates drawn as bars.

Measures nothing.
"""

import os
import sys
from collections.abc import Callable, Iterable
from textwrap import wrap

from rich.console import Console
from rich.table import Table
from rich.text import Text

from preheat.app.agents import title_of
from preheat.cli.home import open_analysed_archive
from preheat.cli.screen import clean, console, has_unicode, hint, print_json, print_table, say
from preheat.cli.session_screen import project_name
from preheat.cli.text import count, day, printable, short_path
from preheat.model.listing import SessionFilter
from preheat.model.population import (
    IntervalEstimate,
    LearningVerdict,
    Marathon,
    Population,
    PopulationCell,
    PopulationGroup,
    ProjectMean,
)
from preheat.model.profile import Rate

# Rates as texts and bars
WIDTH = 24


def format_percent(value: float | None) -> str:
    """`7.2 %`; `-` for none."""
    return "-" if value is None else f"{100 * value:.1f} %"


def format_interval(low: float | None, high: float | None) -> str:
    """`5.7-8.5`, in percent; blank where there is too little data."""
    return "" if low is None or high is None else f"{100 * low:.1f}{'–' if has_unicode() else '-'}{100 * high:.1f}"


def bar_scale(rates: list[Rate]) -> float:
    """The right end of the scale for bars below each other: the highest interval end, but at most twice the highest rate."""
    ends = sorted(rate.high for rate in rates if rate.high is not None)
    if not ends:
        return 1.0
    return max(0.01, min(ends[-1], 2 * max(rate.value or 0.0 for rate in rates if rate.high is not None)))


def draw_bar(low: float | None, value: float | None, high: float | None, top: float, width: int = WIDTH) -> str:
    """The interval from `low` to `high` with its value, drawn on a line from 0 to `top`; an end beyond `top` is cut."""
    if low is None or value is None or high is None:
        return ""
    line, dot, more = ("─", "●", "›") if has_unicode() else ("-", "o", ">")

    def place(share: float) -> int:
        return min(width - 1, max(0, round(share / top * (width - 1))))

    cells = [" "] * width
    cells[place(low) : place(high) + 1] = line * (place(high) - place(low) + 1)
    if high > top * (1 + 0.5 / width):
        cells[-1] = more
    cells[place(value)] = dot
    return "".join(cells).rstrip()


def format_points(estimate: IntervalEstimate) -> str:
    """A difference with its interval, in points, as this terminal can show it."""
    return str(estimate) if has_unicode() else str(estimate).replace("−", "-")


# The report
_TOP = 6
_WIDEST = 110
_NARROW = 90
_VERDICTS: dict[LearningVerdict, str] = {
    "learning": "fewer later (learning)",
    "learning_and_selection": "fewer later (learning), and selection",
    "selection": "no change within; selection",
    "worse": "more later",
    "other_work": "no change within; other work",
    "neither": "no change seen",
    "too_little_data": "too little data",
}


def show_population(
    chosen: SessionFilter, everything: bool = False, html: str | None = None, as_json: bool = False
) -> int:
    """Measure the chosen sessions and print the result; with `html`, also write the report there."""
    _use_one_thread()
    reliability = open_analysed_archive().reliability.without_analysing()
    measured = reliability.population(chosen, None if everything else 2 * _TOP)
    if html is not None:
        replaced = reliability.write_report(html, measured, chosen, describe_filter(chosen), project_name)
        hint(f"{'Replaced' if replaced else 'Wrote'} {short_path(html)}: open it in any browser.")
    if as_json:
        print_json(measured)
        return 0
    if not measured.overall.errors.total:
        hint(_describe_nothing(measured))
        return 0
    screen = console()
    _show(screen, measured, everything)
    hint("`preheat mistakes` shows repeated mistakes, and what fixes them.")
    return 0


def _use_one_thread() -> None:
    """The matrices are small: more threads would only wait for each other."""
    if "numpy" not in sys.modules:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def _describe_nothing(measured: Population) -> str:
    if not measured.sessions:
        return "No session matches. Use fewer filters, or run `preheat sync` first."
    return f"{count(measured.sessions, 'session')}, but no call in them can be judged."


def describe_filter(chosen: SessionFilter) -> str:
    """The filter in words."""
    parts = [
        f"agent {title_of(chosen.agent)}" if chosen.agent else "",
        f"project {printable(chosen.project)}" if chosen.project else "",
        f"model {printable(chosen.model)}" if chosen.model else "",
        f"since {day(chosen.since)}" if chosen.since is not None else "",
        f"until {day(chosen.until)}" if chosen.until is not None else "",
        f"{chosen.min_messages:,} messages or more" if chosen.min_messages is not None else "",
        f"{chosen.max_messages:,} messages or fewer" if chosen.max_messages is not None else "",
        "" if chosen.subagents else "without subagents",
    ]
    return ", ".join(part for part in parts if part)


def _show(screen: Console, measured: Population, everything: bool) -> None:
    _headline(screen, measured)
    say(screen)
    _buckets(screen, measured)
    say(screen)
    _marathon(screen, measured.marathon, measured.by_agent)
    top = None if everything else _TOP
    for title, group, named in (
        ("By tool", measured.tools, clean),
        ("By agent", measured.agents, title_of),
        ("By model", measured.models, _name_or("no model recorded")),
        ("By project", measured.projects, _name_or("no project recorded", project_name)),
    ):
        say(screen)
        _group(screen, title, group, named, top)
    if measured.too_little:
        say(screen)
        say(screen, "Too little data", "bold")
        for sentence in measured.too_little:
            _paragraph(screen, clean(sentence))


def _name_or(empty: str, named: Callable[[str], str] = clean) -> Callable[[str], str]:
    return lambda name: named(name) if name else f"({empty})"


def _headline(screen: Console, measured: Population) -> None:
    errors, mistakes = measured.overall.errors, measured.overall.mistakes
    say(
        screen,
        f"{format_percent(errors.value)} of calls failed{_describe_interval(errors.low, errors.high)}; "
        f"{format_percent(mistakes.value)} by the agent's own mistake{_describe_interval(mistakes.low, mistakes.high)}.",
        "bold",
    )
    parts = ", ".join(f"{number:,} {_CAUSE[cause]}" for cause, number in measured.causes.items())
    _paragraph(
        screen,
        f"{count(measured.sessions, 'session')}, {count(measured.calls, 'call')}, "
        f"{count(errors.count, 'failure')}: {parts}.{_describe_unjudged(measured)}",
    )


_CAUSE = {
    "mistake": "mistakes of the agent",
    "finding": "findings (failing tests and the like)",
    "environment": "by the environment",
    "unknown": "of unknown cause",
}
_LEFT_OUT = {"denied": "refused", "interrupted": "interrupted", "unknown": "of unknown outcome"}


def _describe_unjudged(measured: Population) -> str:
    found = [
        f"{measured.statuses[status]:,} {word}" for status, word in _LEFT_OUT.items() if status in measured.statuses
    ]
    return f" Not in the rates: {', '.join(found)}." if found else ""


def _describe_interval(low: float | None, high: float | None) -> str:
    return (
        f" (95 % interval {format_interval(low, high)} %)" if low is not None else " (too little data for an interval)"
    )


# Tables
def _buckets(screen: Console, measured: Population) -> None:
    """By length of session, and also the mean over projects, because a few projects have most calls."""
    even = {each.name: each for each in measured.even}
    _rates(screen, "By length in messages", measured.marathon.buckets, str, even)
    if screen.width >= _NARROW:
        say(screen, "  per project: the mean of the projects' own rates, so that large projects do not dominate", "dim")


def _group(screen: Console, title: str, group: PopulationGroup, named: Callable[[str], str], top: int | None) -> None:
    cells = group.cells[:top]
    _rates(screen, title, cells, named)
    hidden = group.cells[len(cells) :]
    left, calls = group.left_out + len(hidden), group.left_out_calls + sum(cell.errors.total for cell in hidden)
    if left:
        say(screen, f"  and {left:,} more with {count(calls, 'call')}; --all shows them", "dim")


def _rates(
    screen: Console,
    title: str,
    cells: Iterable[PopulationCell],
    named: Callable[[str], str],
    even: dict[str, ProjectMean] | None = None,
) -> None:
    cells = list(cells)
    narrow = screen.width < _NARROW
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold", show_edge=False)
    table.add_column(title, no_wrap=True, overflow="ellipsis", min_width=22, max_width=22 if narrow else 30)
    headings = ["sessions", "calls", "failed", "95 %", "", "mistakes"]
    if narrow:
        headings.remove("")
    for heading in (*headings, "95 %", *(["per project"] if even and not narrow else [])):
        table.add_column(heading, justify="left" if not heading else "right", no_wrap=True)
    top = bar_scale([cell.errors for cell in cells])
    for cell in cells:
        row = [
            f"  {named(cell.name)}",
            f"{cell.sessions:,}",
            f"{cell.errors.total:,}",
            format_percent(cell.errors.value),
        ]
        row += [_interval(cell.errors.low, cell.errors.high, cell)]
        row += [] if narrow else [draw_bar(cell.errors.low, cell.errors.value, cell.errors.high, top)]
        row += [format_percent(cell.mistakes.value), format_interval(cell.mistakes.low, cell.mistakes.high)]
        row += [format_percent(even[cell.name].errors.value)] if even and not narrow else []
        table.add_row(*(Text(text) for text in row), style="" if cell.has_enough_data else "dim")
    print_table(screen, table)


def _interval(low: float | None, high: float | None, cell: PopulationCell) -> str:
    return format_interval(low, high) if cell.has_enough_data else "too few" if cell.errors.total else ""


# Long sessions: do agents get better?
def _marathon(screen: Console, pooled: Marathon, by_agent: tuple[Marathon, ...]) -> None:
    say(screen, "Do agents get better within a session?", "bold")
    _paragraph(screen, pooled.conclusion, "green")
    rows = [
        ("(a) over 100 messages against 0-50", "raw"),
        ("    inside each agent", "within_agents"),
        ("(b) in their first 50 messages", "selection"),
        ("    over 100: since then", "later"),
    ]
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    table.add_column("  points (95 % interval)", no_wrap=True)
    table.add_column("all failures", no_wrap=True)
    table.add_column("mistakes", no_wrap=True)
    for title, name in rows:
        estimates = (getattr(pooled.errors, name), getattr(pooled.mistakes, name))
        if name != "within_agents" or estimates[0].value is not None:
            table.add_row(f"  {title}", *map(format_points, estimates))
    for title, name in (
        ("(c) per 100 messages, equal work", "slope"),
        ("    over all, not the first 200", "slope_all"),
    ):
        table.add_row(
            f"  {title}", *(format_points(getattr(each, name).change) for each in (pooled.errors, pooled.mistakes))
        )
    print_table(screen, table)
    answers = [answer for answer in by_agent if answer.errors.verdict != "too_little_data"]
    if len(by_agent) > 1 and answers:
        say(screen)
        print_table(screen, _agents(answers, verdicts=screen.width >= _NARROW))


def _agents(answers: list[Marathon], verdicts: bool) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for heading in ("  (c) by agent", "all failures", "mistakes", *(["mistakes, in words"] if verdicts else [])):
        table.add_column(heading, no_wrap=True)
    for answer in answers:
        changes = (answer.errors.slope.change, answer.mistakes.slope.change)
        words = [_VERDICTS[answer.mistakes.verdict]] if verdicts else []
        table.add_row(f"  {title_of(answer.agent)}", *map(format_points, changes), *words)
    return table


def _paragraph(screen: Console, text: str, style: str = "") -> None:
    """Print a text indented and wrapped."""
    for line in wrap(text, min(screen.width, _WIDEST) - 2):
        say(screen, f"  {line}", style)
