"""`preheat watch`: the running sessions on one screen, again and again. Nothing is measured here."""

import sys
import time

import click
from rich.console import RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from preheat.app.agents import title_of
from preheat.app.live.watching import LiveSession
from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.home import open_preheat
from preheat.cli.screen import clean, console, print_json, print_table
from preheat.cli.text import duration, one_line
from preheat.model.live import strip_marks

_MOST = 40
_LOW, _FAIR = 40.0, 70.0
_PHASES = {"struggling": "bold red", "late": "yellow", "exploring": "cyan", "productive": "green", "warmup": "dim"}


@click.command(
    "watch",
    cls=ExampleCommand,
    epilog="""\
  preheat watch                                  until Ctrl-C
  preheat watch --once
  preheat watch --json | jq '.[] | select(.phase == "struggling")'""",
)
@click.option("--once", is_flag=True, help="Print once and end.")
@click.option(
    "--every",
    type=click.FloatRange(0.2, 60),
    default=2.0,
    show_default=True,
    metavar="SECONDS",
    help="How often to look.",
)
@click.option(
    "--within",
    type=click.FloatRange(1),
    default=30,
    show_default=True,
    metavar="MINUTES",
    help="Only sessions with an event in this time.",
)
@json_option
def watch_command(once: bool, every: float, within: float, as_json: bool) -> int:
    """Watch running sessions: phase, trust, focus, debt, and the last advisory.

    Sessions of agents with Preheat's hooks are followed by their hook events, other sessions by their transcripts. Nothing is
    changed, and no agent is told anything.
    """
    watching = open_preheat().live
    if as_json:
        print_json(watching.sessions(within=within * 60))
        return 0
    screen = console()
    if once or not sys.stdout.isatty():
        print_table(screen, draw_sessions(watching.sessions(within=within * 60), time.time(), screen.width))
        return 0
    try:
        with Live(console=screen, screen=True, auto_refresh=False, transient=True) as live:
            while True:
                live.update(
                    draw_sessions(watching.sessions(within=within * 60), time.time(), screen.width), refresh=True
                )
                time.sleep(every)
    except KeyboardInterrupt:
        return 0  # Ctrl-C is how a person ends it


def draw_sessions(sessions: list[LiveSession], now: float, width: int = 160) -> RenderableType:
    """A table of the running sessions."""
    if not sessions:
        return Text(
            "No session runs. `preheat install AGENT` has an agent report its sessions; growing transcripts are shown, too."
        )
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for name in ("session", "agent", "project", "phase"):
        table.add_column(name, no_wrap=True)
    for name in ("turn", "trust", "focus", "debt", "event"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("last advisory", ratio=1, overflow="ellipsis", no_wrap=True)
    for each in sessions[:_MOST]:
        table.add_row(*_cells(each, now, width))
    if len(sessions) > _MOST:
        table.add_row("", "", f"and {len(sessions) - _MOST} more")
    return table


def _cells(each: LiveSession, now: float, width: int) -> list[Text]:
    project = clean(each.project).rstrip("/\\").replace("\\", "/").rpartition("/")[2]
    phase = f"{each.phase}, loop" if each.loop else each.phase
    advisory = strip_marks(each.advisory)
    if advisory and not each.was_sent:
        advisory = f"(not sent) {advisory}"
    return [
        Text(clean(each.session)[:8], "bold"),
        Text(one_line(title_of(each.agent), 14)),
        Text(one_line(project, 24) or "-"),
        Text(phase, _PHASES[each.phase]),
        Text(str(each.turn)),
        Text(f"{each.trust:.0f}", _style(each.trust)),
        Text(f"{each.focus:.0f}", _style(each.focus)),
        Text(f"{each.debt:.0f}"),
        Text(f"{duration(max(0.0, now - each.last_at))} ago", "dim"),
        Text(one_line(clean(advisory), max(20, width - 90)), "dim" if not each.was_sent else ""),
    ]


def _style(value: float) -> str:
    return "red" if value < _LOW else "yellow" if value < _FAIR else ""
