"""What the commands of the fleet show on a terminal. Adds nothing up itself."""

import sys
from collections.abc import Sequence

from rich.console import Console

from preheat.amounts import format_bytes, format_seconds
from preheat.cli.screen import clean, console, hint, plain_table, print_table, say
from preheat.cli.text import count, one_line, printable, tokens
from preheat.model.fleet import FleetLessons, FleetPublication, FleetReport, FleetRun, FleetTotals
from preheat.model.team import PushReport

_MOST_PROBLEMS = 20
_MOST_ROWS = 15
_MOST_LESSONS = 10


def show_run(run: FleetRun) -> None:
    """What a run did."""
    for each in run.problems[:_MOST_PROBLEMS]:
        line = f":{each.line}" if each.line is not None else ""
        print(f"preheat: {printable(each.object)}{line}: {one_line(clean(each.reason), 200)}", file=sys.stderr)
    if len(run.problems) > _MOST_PROBLEMS:
        print(f"preheat: {len(run.problems) - _MOST_PROBLEMS:,} more problems; --json has them all", file=sys.stderr)
    speed = f", {format_bytes(run.bytes / run.seconds)}/s" if run.bytes and run.seconds else ""
    print(
        f"{count(run.objects, 'object')}: {run.new:,} new ({format_bytes(run.bytes)}, {count(run.batches, 'batch', 'batches')}), "
        f"{run.others:,} no transcript, {run.failed:,} failed; {format_seconds(run.seconds)}{speed}"
    )
    print(
        f"{count(run.sessions, 'session')}, {count(run.calls, 'call')}, {run.errors:,} failed, in "
        f"{count(run.projects, 'project')}; {count(run.lessons, 'lesson')}"
    )
    if run.redactions:
        print(f"{count(run.redactions, 'secret')} removed before anything was written")
    hint(f"`preheat fleet report {printable(run.destination)}` says what they come to.")


def show_report(report: FleetReport) -> None:
    """The report, as tables."""
    screen = console()
    for title, rows in (
        ("project", report.projects),
        ("agent", report.agents),
        ("model", report.models),
        ("day", report.days),
    ):
        _show_totals(screen, title, rows, report.total)
    _show_causes(screen, report)
    _show_mistakes(screen, report)
    if report.unpriced_tokens:
        say(screen, f"Without a known price, and not in the money: {tokens(report.unpriced_tokens)} tokens.")
    if report.problems:
        say(screen, f"{count(report.problems, 'problem')} with objects; `preheat fleet analyse` names them.")
    say(screen, f"List prices of {report.price_list}.", "dim")


def _show_totals(screen: Console, title: str, rows: Sequence[FleetTotals], total: FleetTotals) -> None:
    table = plain_table()
    table.add_column(title)
    for name in ("sessions", "calls", "failed", "input", "output", "money"):
        table.add_column(name, justify="right", no_wrap=True)
    for each in rows[:_MOST_ROWS]:
        table.add_row(printable(each.name) or "none", *_cells(each))
    if len(rows) > 1 and title != "model":  # a session may have several models
        table.add_row("total", *_cells(total), style="bold")
    print_table(screen, table)
    if len(rows) > _MOST_ROWS:
        say(screen, f"{len(rows) - _MOST_ROWS:,} more; --json has them all.", "dim")
    say(screen)


def _cells(each: FleetTotals) -> list[str]:
    share = f"{each.errors / each.calls:.1%}" if each.calls else ""
    return [
        f"{each.sessions:,}",
        f"{each.calls:,}",
        share,
        tokens(each.input_tokens),
        tokens(each.output_tokens),
        f"${each.money:,.2f}",
    ]


def _show_causes(screen: Console, report: FleetReport) -> None:
    table = plain_table()
    table.add_column("cause of failed calls")
    for name in ("calls", "sessions", "lost tokens"):
        table.add_column(name, justify="right", no_wrap=True)
    for each in report.causes[:_MOST_ROWS]:
        table.add_row(each.cause, f"{each.calls:,}", f"{each.sessions:,}", tokens(each.lost_tokens))
    print_table(screen, table)
    say(screen)


def _show_mistakes(screen: Console, report: FleetReport) -> None:
    if not report.mistakes:
        return
    table = plain_table()
    table.add_column("mistake in several sessions")
    for name in ("tool", "cause"):
        table.add_column(name)
    for name in ("calls", "sessions", "projects"):
        table.add_column(name, justify="right", no_wrap=True)
    for each in report.mistakes[:_MOST_ROWS]:
        numbers = (f"{number:,}" for number in (each.calls, each.sessions, each.projects))
        table.add_row(one_line(clean(each.signature), 70), clean(each.tool), each.cause, *numbers)
    print_table(screen, table)
    say(screen)


def show_fleet_lessons(found: Sequence[FleetLessons], everything: bool) -> None:
    """The lessons by project; those that may be handed out, or all."""
    screen = console()
    shown = 0
    for each in found:
        fit = [lesson for lesson in each.lessons if everything or lesson.status == "active"]
        if not fit:
            continue
        shown += len(fit)
        say(screen, printable(each.project) or "everywhere", "bold")
        for lesson in fit if everything else fit[:_MOST_LESSONS]:
            support = count(lesson.support.sessions_for, "session")
            status = "" if lesson.status == "active" else f", {lesson.status}"
            say(screen, f"  {one_line(clean(lesson.text), 120)}  ({support}{status})")
        if len(fit) > _MOST_LESSONS and not everything:
            say(screen, f"  {len(fit) - _MOST_LESSONS:,} more; --all shows them.", "dim")
        if each.template:
            say(screen, f"  template: {printable(each.template)}", "dim")
    if not shown:
        say(screen, "No lesson has enough support yet.")
        hint("`--all` shows the weak ones, too.")


def show_publication(found: FleetPublication) -> None:
    """What was published."""
    screen = console()
    for title, texts in (("new", found.new), ("seen more often", found.changed)):
        for text in texts:
            say(screen, f"  {title}: {one_line(clean(text), 140)}")
    said = f"{count(len(found.new), 'lesson')} added, {len(found.changed):,} seen more often, {found.kept:,} as before"
    say(screen, f"{said}; {found.left_out:,} may not travel.")
    if found.path:
        say(screen, f"Written to {printable(found.path)}; review it like code.")
        hint("`preheat trust` lets a clone use it.")
    else:
        say(screen, "The file has all of them already; nothing was written.")


def show_proposal(found: PushReport) -> None:
    """What was proposed to a team."""
    said = f"{count(found.lessons, 'lesson')} proposed to your team"
    say(console(), f"{said}; {found.withdrawn:,} proposed before withdrawn." if found.withdrawn else f"{said}.")
    if found.lessons:
        hint("a reviewer sees them with `preheat team lessons`.")
