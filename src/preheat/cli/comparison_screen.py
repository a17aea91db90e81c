"""Comparisons on a terminal: compactions, and two sessions or sets side by side.

Knows nothing of how they were measured.
"""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace
from rich.console import Console
from rich.table import Table
from rich.text import Text

from preheat.app.agents import title_of
from preheat.cli.population_screen import format_percent
from preheat.cli.screen import clean, console, print_table, say
from preheat.cli.text import count, date_time, one_line
from preheat.model.comparison import (
    CompactionBoundary,
    CompactionCheck,
    Comparison,
    ComparisonFinding,
    Difference,
    MeasureChange,
    PreservationVerdict,
)
from preheat.model.profile import Rate

VERDICT_ORDER: dict[PreservationVerdict, int] = {"not preserved": 0, "preserved": 1, "too little data": 2}
_NARROW, _WIDE = 90, 130
_COLOURS = {
    "preserved": "green",
    "not preserved": "red",
    "too little data": "dim",
    "no difference shown": "",
    "a is higher": "yellow",
    "b is higher": "yellow",
}

_LONG: dict[ComparisonFinding, str] = {
    "a is higher": "A is higher",
    "b is higher": "B is higher",
    "no difference shown": "no difference shown",
    "too little data": "too little data",
}
_SHORT: dict[ComparisonFinding, str] = {
    "a is higher": "A",
    "b is higher": "B",
    "no difference shown": "-",
    "too little data": "?",
}


# Before and after compactions
def show_compaction_check(
    check: CompactionCheck, listed: Sequence[CompactionBoundary], names: Mapping[str, str]
) -> None:
    """Print the verdict, then the rates that it rests on."""
    screen = console()
    several = check.sessions > 1
    headline = Text().append(f"{check.verdict[0].upper()}{check.verdict[1:]}", f"bold {_COLOURS[check.verdict]}")
    headline.append(f": {_sentence(check.window[0], check.margin)}", "")
    screen.print(headline)
    for change in check.window[1:]:
        if change.verdict != "too little data":
            before, after = format_percent(change.before.value), format_percent(change.after.value)
            sentence = f"{change.measure} {change.verdict}: {before} before, {after} after."
            screen.print(Text(sentence[0].upper() + sentence[1:], _COLOURS[change.verdict]))
    say(screen)
    _changes(screen, f"{count(check.crossings, 'compaction')}" + (f" in {count(check.sessions, 'session')}" if several else "")
             + f": the last {check.size} calls before, the first {check.size} after", check.window)  # fmt: skip
    say(screen)
    _changes(screen, "Everything before and after", check.whole)
    if check.agents:
        say(screen)
        _changes(
            screen,
            "Errors by agent",
            [_rename_measure(found[0], title_of(agent)) for agent, found in check.agents.items()],
        )
    if several or check.crossings > 1:
        say(screen)
        _boundaries(screen, listed, names)
    say(screen)
    about = (
        "sessions resampled, and score bounds where events are few"
        if several
        else "score bounds, calls treated as independent"
    )
    _remark(screen, f"x: after divided by before, with its one-sided 95 % bounds ({about}).")
    if several:
        _remark(screen, "A single compaction seldom has enough calls, and among many some stand out by chance.")


def _remark(screen: Console, text: str) -> None:
    screen.print(Text(text, "dim"))


def _rename_measure(change: MeasureChange, name: str) -> MeasureChange:
    return replace(change, measure=name)


def _sentence(change: MeasureChange, margin: float) -> str:
    before, after = format_percent(change.before.value), format_percent(change.after.value)
    limit = f"{1 + margin:g}"
    if change.before.value is None or change.after.value is None:
        return "one side has no calls whose outcome is known."
    start = f"{before} of the calls failed before, {after} after"
    if change.verdict == "preserved":
        return f"{start}; with 95 % confidence at most {_times(change.high)} as many (the limit is {limit})."
    if change.verdict == "not preserved":
        return f"{start}; with 95 % confidence at least {_times(change.low)} as many (the limit is {limit})."
    bounds = f"that can mean anything from {_times(change.low)} to {_times(change.high)} as many"
    if change.low is None and change.high is None:
        bounds = (
            "without a failure on either side there is no ratio" if not change.before.count else "there is no ratio"
        )
    needed = f" About {change.needed:,} calls on each side would be enough." if change.needed else ""
    return f"{start}; {bounds} (the limit is {limit}).{needed}"


def _times(value: float | None) -> str:
    return "any number of times" if value is None else f"{value:.2f} times"


def _changes(screen: Console, title: str, changes: Sequence[MeasureChange]) -> None:
    say(screen, title, "bold")
    narrow, wide = screen.width < _NARROW, screen.width >= _WIDE
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim", show_header=True)
    table.add_column("", no_wrap=True, min_width=14)
    for name in ("before", "after"):
        table.add_column(name, justify="right", no_wrap=True)
        if wide:
            table.add_column("95 % interval", justify="right", no_wrap=True)
    table.add_column("x", justify="right", no_wrap=True)
    table.add_column("bounds", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for change in changes:
        cells = [Text(change.measure)]
        for rate in (change.before, change.after):
            cells.append(Text(format_percent(rate.value)) if narrow else _rate(rate))
            cells += [Text(_interval(rate), "dim")] if wide else []
        ratio = "-" if change.ratio is None else f"{change.ratio:.2f}"
        bounds = "-" if change.low is None and change.high is None else _bounds(change)
        table.add_row(*cells, Text(ratio), Text(bounds), Text(change.verdict, _COLOURS[change.verdict]))
    print_table(screen, table)


def _bounds(change: MeasureChange) -> str:
    low = "0" if change.low is None else f"{change.low:.2f}"
    return f"{low} to {change.high:.2f}" if change.high is not None else f"over {low}"


def _rate(rate: Rate) -> Text:
    found = Text().append(f"{rate.count:,}/{rate.total:,} ", "dim")
    found.append(format_percent(rate.value).rjust(6), "")
    return found


def _interval(rate: Rate) -> str:
    return "" if rate.low is None or rate.high is None else f"{100 * rate.low:.1f} to {100 * rate.high:.1f}"


def _boundaries(screen: Console, listed: Sequence[CompactionBoundary], names: Mapping[str, str]) -> None:
    say(screen, "Compactions, errors in the windows", "bold")
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for name in ("session", "", "when", "agent"):
        table.add_column(name, no_wrap=True, style="cyan" if name == "session" else "")
    for name in ("before", "after"):
        table.add_column(name, no_wrap=True, justify="right")
    table.add_column("", no_wrap=True)
    for each in listed:
        errors = each.window[0]
        table.add_row(
            Text(clean(names[each.session])),
            Text(f"#{each.number}" if each.child is None else f"→ {clean(names[each.child])}"),
            Text(date_time(each.at)),
            Text(title_of(each.agent)),
            Text(f"{errors.before.count}/{errors.before.total}"),
            Text(f"{errors.after.count}/{errors.after.total}"),
            Text(each.verdict, _COLOURS[each.verdict]),
        )
    print_table(screen, table)


# Two sessions or sets side by side
def show_comparison(comparison: Comparison) -> None:
    """Print the verdict, both sides, and every measure."""
    screen = console()
    screen.print(Text(_verdict(comparison), f"bold {_COLOURS[comparison.verdict]}"))
    say(screen)
    for letter, side in (("A", comparison.a), ("B", comparison.b)):
        sessions = f"{count(side.sessions, 'session')}, " if comparison.of == "sets" else ""
        unknown = side.calls - side.judged
        rest = f", {unknown:,} of unknown outcome" if unknown else ""
        say(screen, f"{letter}  {one_line(clean(side.label), 80)}  ({sessions}{count(side.calls, 'call')}{rest})")
    if comparison.shared:
        say(screen, f"   {count(comparison.shared, 'session')} in both, counted in the smaller set only", "dim")
    say(screen)
    _differences(screen, comparison.differences)
    say(screen)
    _remark(screen, f"By {comparison.method}. The error rate decides; the other measures are secondary.")
    _remark(screen, "Not randomised: this compares, it does not prove a cause. Tasks, people and projects may differ.")


def _verdict(comparison: Comparison) -> str:
    errors = comparison.differences[0]
    if errors.difference is None or errors.low is None or errors.high is None:
        return "Too little data: there must be at least 5 " + (
            "sessions with judged calls on each side." if comparison.of == "sets" else "judged calls on each side."
        )
    points = f"{abs(100 * errors.difference):.1f} points"
    interval = _difference_interval(errors)
    if comparison.verdict == "no difference shown":
        return f"No difference shown: error rate {format_percent(errors.a)} against {format_percent(errors.b)}, {interval}."
    more = "more" if comparison.verdict == "a is higher" else "fewer"
    return (
        f"A fails {more}: error rate {format_percent(errors.a)} against {format_percent(errors.b)}, {points} "
        f"apart ({interval})."
    )


def _difference_interval(difference: Difference) -> str:
    return f"95 % interval of the difference {_amount(difference, difference.low)} to {_amount(difference, difference.high)}"


def _differences(screen: Console, differences: Sequence[Difference]) -> None:
    narrow = screen.width < _WIDE
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("", no_wrap=True)
    for name in ("A", "B", "A - B"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("95 % interval", justify="right", no_wrap=True)
    table.add_column("p", justify="right", no_wrap=True)
    table.add_column("higher" if screen.width < _NARROW else "", no_wrap=True)
    for each in differences:
        interval = "" if each.low is None else f"{_amount(each, each.low)} to {_amount(each, each.high)}"
        table.add_row(
            Text(each.measure),
            _side(each, each.a, each.a_count, each.a_total, narrow),
            _side(each, each.b, each.b_count, each.b_total, narrow),
            Text(_amount(each, each.difference)),
            Text(interval),
            Text("" if each.p is None else ("<0.001" if each.p < 0.001 else f"{each.p:.3f}")),
            Text((_SHORT if screen.width < _NARROW else _LONG)[each.finding], _COLOURS[each.finding]),
        )
    print_table(screen, table)


def _side(difference: Difference, value: float | None, number: float, total: int, narrow: bool) -> Text:
    if value is None:
        return Text("-" if difference.unit == "share" else "not recorded", "dim")
    if difference.unit == "share":
        found = Text().append("" if narrow else f"{number:,.0f}/{total:,} ", "dim")
        found.append(format_percent(value), "")
        return found
    return Text(f"{value:,.1f} s" if difference.unit == "seconds" else f"{value:,.0f}")


def _amount(difference: Difference, value: float | None) -> str:
    """A difference, with its sign."""
    if value is None:
        return "-"
    if difference.unit == "share":
        return f"{100 * value:+.1f}"
    return f"{value:+,.1f} s" if difference.unit == "seconds" else f"{value:+,.0f}"
