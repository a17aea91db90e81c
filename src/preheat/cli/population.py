"""`preheat profile` without a session: how reliable agents were over many sessions, and whether they get better in one.

The measures are `preheat.profiles.population`'s work; this asks for them and shows them.
"""

import os
import sys
from collections.abc import Callable, Iterable
from textwrap import wrap

from rich.console import Console
from rich.table import Table
from rich.text import Text

from preheat.app.agents import title_of
from preheat.cli.bars import bar, percent, points, scale, span_of
from preheat.cli.home import analysed
from preheat.cli.listing import project_name
from preheat.cli.screen import clean, console, hint, print_json, print_table, say
from preheat.cli.text import count, day, printable, short_path
from preheat.model.listing import Filter
from preheat.model.population import Cell, EvenBucket, Group, Marathon, Population, Verdict

_TOP = 6
_WIDEST = 110
_NARROW = 90
_VERDICTS: dict[Verdict, str] = {
    "learning": "fewer later (learning)",
    "learning_and_selection": "fewer later (learning), and selection",
    "selection": "no change within; selection",
    "worse": "more later",
    "other_work": "no change within; other work",
    "neither": "no change seen",
    "too_little_data": "too little data",
}


def show_population(chosen: Filter, everything: bool = False, html: str | None = None, as_json: bool = False) -> int:
    """Measure the chosen sessions and show it; with `html`, write the report there, too."""
    _one_thread()
    reliability = analysed().reliability.as_analysed()
    measured = reliability.population(chosen, None if everything else 2 * _TOP)
    if html is not None:
        replaced = reliability.write_report(html, measured, chosen, about(chosen), project_name)
        hint(f"{'Replaced' if replaced else 'Wrote'} {short_path(html)}: open it in any browser.")
    if as_json:
        print_json(measured)
        return 0
    if not measured.overall.errors.total:
        hint(_nothing(measured))
        return 0
    screen = console()
    _show(screen, measured, everything)
    hint("`preheat mistakes` shows what goes wrong again and again, and what fixes it.")
    return 0


def _one_thread() -> None:
    """The matrices here are small: more threads would only burn time waiting for each other."""
    if "numpy" not in sys.modules:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def _nothing(measured: Population) -> str:
    if not measured.sessions:
        return "No session fits. Take a filter away, or `preheat sync` first."
    return f"{count(measured.sessions, 'session')}, but no call in them that can be judged: nothing to measure."


def about(chosen: Filter) -> str:
    """Which sessions, in words."""
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
        ("By model", measured.models, _or("no model recorded")),
        ("By project", measured.projects, _or("no project recorded", project_name)),
    ):
        say(screen)
        _group(screen, title, group, named, top)
    if measured.too_little:
        say(screen)
        say(screen, "Too little data", "bold")
        for sentence in measured.too_little:
            _paragraph(screen, clean(sentence))


def _or(empty: str, named: Callable[[str], str] = clean) -> Callable[[str], str]:
    return lambda name: named(name) if name else f"({empty})"


def _headline(screen: Console, measured: Population) -> None:
    errors, mistakes = measured.overall.errors, measured.overall.mistakes
    say(
        screen,
        f"{percent(errors.value)} of calls failed{_inside(errors.low, errors.high)}; "
        f"{percent(mistakes.value)} by the agent's own mistake{_inside(mistakes.low, mistakes.high)}.",
        "bold",
    )
    parts = ", ".join(f"{number:,} {_CAUSE[cause]}" for cause, number in measured.causes.items())
    _paragraph(
        screen,
        f"{count(measured.sessions, 'session')}, {count(measured.calls, 'call')}, "
        f"{count(errors.count, 'failure')}: {parts}.{_unjudged(measured)}",
    )


_CAUSE = {
    "mistake": "mistakes of the agent",
    "finding": "findings (failing tests and the like)",
    "environment": "by the environment",
    "unknown": "of unknown cause",
}
_LEFT_OUT = {"denied": "refused", "interrupted": "cut off", "unknown": "cannot be told"}


def _unjudged(measured: Population) -> str:
    found = [
        f"{measured.statuses[status]:,} {word}" for status, word in _LEFT_OUT.items() if status in measured.statuses
    ]
    return f" In no rate: {', '.join(found)}." if found else ""


def _inside(low: float | None, high: float | None) -> str:
    return f" (95 % interval {span_of(low, high)} %)" if low is not None else " (too little data for an interval)"


# Tables.
def _buckets(screen: Console, measured: Population) -> None:
    """By length; beside it the same with every project weighing the same, because a few projects hold most calls."""
    even = {each.name: each for each in measured.even}
    _rates(screen, "By length in messages", measured.marathon.buckets, str, even)
    if screen.width >= _NARROW:
        say(screen, "  alike: the mean of the projects' own rates, so that no large project drowns the others", "dim")


def _group(screen: Console, title: str, group: Group, named: Callable[[str], str], top: int | None) -> None:
    cells = group.cells[:top]
    _rates(screen, title, cells, named)
    hidden = group.cells[len(cells) :]
    left, calls = group.left_out + len(hidden), group.left_out_calls + sum(cell.errors.total for cell in hidden)
    if left:
        say(screen, f"  and {left:,} more with {count(calls, 'call')}; --all shows them", "dim")


def _rates(
    screen: Console,
    title: str,
    cells: Iterable[Cell],
    named: Callable[[str], str],
    even: dict[str, EvenBucket] | None = None,
) -> None:
    cells = list(cells)
    narrow = screen.width < _NARROW
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold", show_edge=False)
    table.add_column(title, no_wrap=True, overflow="ellipsis", min_width=22, max_width=22 if narrow else 30)
    headings = ["sessions", "calls", "failed", "95 %", "", "mistakes"]
    if narrow:
        headings.remove("")
    for heading in (*headings, "95 %", *(["alike"] if even and not narrow else [])):
        table.add_column(heading, justify="left" if not heading else "right", no_wrap=True)
    top = scale([cell.errors for cell in cells])
    for cell in cells:
        row = [f"  {named(cell.name)}", f"{cell.sessions:,}", f"{cell.errors.total:,}", percent(cell.errors.value)]
        row += [_interval(cell.errors.low, cell.errors.high, cell)]
        row += [] if narrow else [bar(cell.errors.low, cell.errors.value, cell.errors.high, top)]
        row += [percent(cell.mistakes.value), span_of(cell.mistakes.low, cell.mistakes.high)]
        row += [percent(even[cell.name].errors.value)] if even and not narrow else []
        table.add_row(*(Text(text) for text in row), style="" if cell.enough else "dim")
    print_table(screen, table)


def _interval(low: float | None, high: float | None, cell: Cell) -> str:
    return span_of(low, high) if cell.enough else "too few" if cell.errors.total else ""


# The marathon question.
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
            table.add_row(f"  {title}", *map(points, estimates))
    for title, name in (
        ("(c) per 100 messages, equal work", "slope"),
        ("    over all, not the first 200", "slope_all"),
    ):
        table.add_row(f"  {title}", *(points(getattr(each, name).change) for each in (pooled.errors, pooled.mistakes)))
    print_table(screen, table)
    told = [answer for answer in by_agent if answer.errors.verdict != "too_little_data"]
    if len(by_agent) > 1 and told:
        say(screen)
        print_table(screen, _agents(told, verdicts=screen.width >= _NARROW))


def _agents(told: list[Marathon], verdicts: bool) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for heading in ("  (c) by agent", "all failures", "mistakes", *(["mistakes, in words"] if verdicts else [])):
        table.add_column(heading, no_wrap=True)
    for answer in told:
        changes = (answer.errors.slope.change, answer.mistakes.slope.change)
        words = [_VERDICTS[answer.mistakes.verdict]] if verdicts else []
        table.add_row(f"  {title_of(answer.agent)}", *map(points, changes), *words)
    return table


def _paragraph(screen: Console, text: str, style: str = "") -> None:
    """Indented, and not wider than can be read well."""
    for line in wrap(text, min(screen.width, _WIDEST) - 2):
        say(screen, f"  {line}", style)
