"""The command `preheat sessions watch`: running sessions as a whole screen, or as lines where nobody sits at a terminal.

Measures nothing; what keys do is in `watch_view`, the terminal in `full_screen`.
"""

import time
from collections.abc import Iterator
from contextlib import suppress

import click
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from preheat.app import Preheat
from preheat.app.agents import title_of
from preheat.app.live.signals import LiveSession, LiveSignals
from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.full_screen import draw, is_possible, read_keys, screen_size, whole_screen
from preheat.cli.home import open_preheat
from preheat.cli.screen import clean, console, print_json, print_table
from preheat.cli.session_screen import heading_lines
from preheat.cli.text import date_time, duration, one_line
from preheat.cli.watch_view import WatchRow, WatchView
from preheat.errors import UserError
from preheat.model.listing import SessionFilter, SessionSummary, Transcript
from preheat.model.live import strip_marks
from preheat.model.session import AssistantMessage, ToolCall, UserMessage

_MOST = 40
_MOST_ARCHIVED = 200
_LONGEST = 400
_WIDE = 130
_LOW, _FAIR = 40.0, 70.0
_PHASES = {"struggling": "bold red", "late": "yellow", "exploring": "cyan", "productive": "green", "warmup": "dim"}


@click.command(
    "watch",
    cls=ExampleCommand,
    epilog="""\
  preheat sessions watch                                  a whole screen; q ends it
  preheat sessions watch --once
  preheat sessions watch --json | jq '.[] | select(.phase == "struggling")'""",
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

    On a terminal this is a whole screen: a list (running sessions are marked with *), one session in detail, and a search.
    Sessions of agents with Preheat's hooks are followed by their hook events, other sessions by their transcripts. Nothing is
    changed, and no agent is told anything.
    """
    watching = open_preheat().live
    if as_json:
        print_json(watching.sessions(within=within * 60))
        return 0
    if once or not is_possible():
        screen = console()
        print_table(screen, draw_sessions(watching.sessions(within=within * 60), time.time(), screen.width))
        return 0
    source = _Source(open_preheat(), watching, within * 60)
    view = WatchView(source.load, source.detail)
    with suppress(KeyboardInterrupt), whole_screen():  # Ctrl-C is one way to end it
        _run(view, every)
    return 0


def _run(view: WatchView, every: float) -> None:
    looked = time.monotonic()
    while True:
        width, height = screen_size()
        draw(*view.draw(width, height))
        for key in read_keys(every):
            if not view.press(key, height - 3):
                return
        if time.monotonic() - looked >= every and view.mode == "list":
            view.refresh()
            looked = time.monotonic()


class _Source:
    """Running sessions first, then the newest of the archive; a search looks through their messages and commands."""

    def __init__(self, home: Preheat, watching: LiveSignals, within: float) -> None:
        self._home = home
        self._watching = watching
        self._within = within
        self._running: dict[str, LiveSession] = {}

    def load(self, query: str) -> list[WatchRow]:
        self._running = {f"{each.agent}:{each.session}": each for each in self._watching.sessions(within=self._within)}
        rows = [_running_row(key, each) for key, each in self._running.items()]
        words = query.casefold()
        rows = [row for row in rows if words in " ".join((row.name, row.agent, row.project, row.about)).casefold()]
        if not self._home.has_archive():
            return rows
        archive = self._home.archive
        try:
            hits = archive.search(query, SessionFilter(), (), _MOST_ARCHIVED) if query else []
        except UserError:
            hits = []
        stored = {hit.session.key: (hit.session, hit.text) for hit in reversed(hits)}
        if not query:
            newest = archive.sessions(SessionFilter(subagents=False), _MOST_ARCHIVED)
            stored = {each.key: (each, each.title or each.opening) for each in newest}
        return [*rows, *(_stored_row(each, text) for key, (each, text) in stored.items() if key not in self._running)]

    def detail(self, key: str) -> list[str]:
        lines = list(_describe_running(self._running[key])) if key in self._running else []
        try:
            found = self._home.archive.transcript(key) if self._home.has_archive() else None
        except UserError as error:
            return [*lines, "", str(error)]
        if found is None:
            return lines
        return [*lines, *(line for line, _ in heading_lines(found)), "", *_describe_transcript(found)]


def _running_row(key: str, each: LiveSession) -> WatchRow:
    advisory = clean(strip_marks(each.advisory))
    about = advisory if each.was_sent or not advisory else f"(not sent) {advisory}"
    state = f"{each.phase}{', loop' if each.loop else ''}"
    return WatchRow(key, clean(each.session)[:8], title_of(each.agent), _folder_name(each.project), state, about, True)


def _stored_row(each: SessionSummary, text: str) -> WatchRow:
    about = one_line(clean(text), 200)
    return WatchRow(
        each.key, clean(each.session)[:8], title_of(each.agent), _folder_name(each.project), date_time(each.started_at), about,
        False,
    )  # fmt: skip


def _describe_running(each: LiveSession) -> Iterator[str]:
    yield f"{title_of(each.agent)} in {clean(each.project)}, turn {each.turn}, {each.phase}{', in a loop' if each.loop else ''}"
    yield f"trust {each.trust:.0f}  focus {each.focus:.0f}  debt {each.debt:.0f}"
    if each.advisory:
        yield f"{'said' if each.was_sent else 'would have said'}: {clean(strip_marks(each.advisory))}"
    yield ""


def _describe_transcript(found: Transcript) -> Iterator[str]:
    """Messages and calls of a session, a line each."""
    lines = iter(found.calls)
    for event in found.session.events:
        if isinstance(event, UserMessage) and event.origin == "human" and event.text.strip():
            yield f"you: {one_line(clean(event.text), _LONGEST)}"
        elif isinstance(event, AssistantMessage) and event.text.strip():
            yield f"agent: {one_line(clean(event.text), _LONGEST)}"
        elif isinstance(event, ToolCall):
            line = next(lines, None)
            if line is not None:
                verdict = "failed" if line.is_failure else "passed" if line.status == "ok" else line.status
                yield f"  {verdict:<8} {clean(line.tool)} {one_line(clean(line.summary), _LONGEST)}"


def _folder_name(project: str) -> str:
    return clean(project).rstrip("/\\").replace("\\", "/").rpartition("/")[2]


def draw_sessions(sessions: list[LiveSession], now: float, width: int = 160) -> RenderableType:
    """A table of the running sessions."""
    if not sessions:
        return Text(
            "No session runs. `preheat install AGENT` has an agent report its sessions; growing transcripts are shown, too."
        )
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    wide = width >= _WIDE
    for name in ("session", "agent", "project", "phase") if wide else ("session", "project", "phase"):
        table.add_column(name, no_wrap=True)
    for name in ("turn", "trust", "focus", "debt", "event") if wide else ("trust", "event"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("last advisory", ratio=1, overflow="fold" if not wide else "ellipsis", no_wrap=wide)
    for each in sessions[:_MOST]:
        cells = _cells(each, now, width)
        table.add_row(*(cells if wide else [cells[place] for place in (0, 2, 3, 5, 8, 9)]))
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
