"""The command `preheat receipts`: what sessions were told, what was seen of it, and what it cost. Adds nothing up itself."""

import os
import textwrap

import click

from preheat.app.agents import title_of
from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.home import open_preheat
from preheat.cli.options import DateOption
from preheat.cli.screen import console, hint, plain_table, print_json, print_table, say
from preheat.cli.text import count, date_time, day, printable, tokens
from preheat.model.receipt import FileTally, Receipts, SessionReceipt, Tally, TextKind

_SESSIONS = 15
_NARROW = 80
_TITLES: dict[TextKind, str] = {
    "warning": "calls warned of",
    "hold": "calls held once",
    "answer": "answers after a failure",
    "advice": "other advice",
}
_ONE: dict[TextKind, str] = {
    "warning": "call warned of",
    "hold": "call held once",
    "answer": "answer after a failure",
    "advice": "other advice",
}
_OUTCOMES = {
    "failed": "the call was made and failed", "worked": "the call was made and worked",
    "followed": "followed: a call with what it names worked", "": "nothing seen of it afterwards",
}  # fmt: skip


@click.command(
    "receipts",
    cls=ExampleCommand,
    epilog="""\
  preheat receipts                        all sessions of the last fourteen days
  preheat receipts --project . --since 7d this project, the last week
  preheat receipts --session 3f2a         one session, with every text it was told
  preheat receipts --json | jq .said.answer

What is counted was seen to happen; that it happened because of Preheat is not claimed. Where texts are withheld at random
(`preheat experiment`), the same counts stand beside it for what was not said: that is the comparison.""",
)
@click.option(
    "--project", metavar="TEXT", default="", help="Only this project (`.` is here), or those with this in their path."
)
@click.option("--session", metavar="ID", default="", help="Only this session: its id, or the beginning of it.")
@click.option(
    "--since", type=DateOption(), metavar="DATE", default=0.0, help="Only sessions since: 2026-01-31, 7d, 2w."
)
@json_option
def receipts_command(project: str, session: str, since: float, as_json: bool) -> int:
    """Show what sessions were told, what was seen of it, and what it cost."""
    if project and (project[0] in ".~" or os.sep in project):
        project = os.path.abspath(os.path.expanduser(project))
    found = open_preheat().receipts(project, session, since)
    if as_json:
        print_json(found)
        return 0
    if not any(each.receipt.events or each.receipt.said for each in found.sessions):
        say(console(), "No session was told anything yet, as far as the daemon knows.")
        hint("`preheat install` has agents ask; `preheat status` says whether they do.")
        return 0
    _show_totals(found)
    if session:
        for each in found.sessions:
            _show_session(each)
    else:
        _show_sessions(found.sessions)
    _show_withdrawn(found)
    return 0


def _show_totals(found: Receipts) -> None:
    screen = console()
    table = plain_table()
    table.add_column("seen to happen")
    for title in ("said", "call failed", "call worked", "followed"):
        table.add_column(title, justify="right", no_wrap=True)
    for kind, title in _TITLES.items():
        for tally, suffix in ((found.said.get(kind), ""), (found.drawn.get(kind), ", drawn at random to be said"),
                              (found.withheld.get(kind), ", drawn at random not to be said")):  # fmt: skip
            if tally is not None:
                table.add_row(f"{title}{suffix}", *_cells(kind, tally))
    if table.row_count:
        print_table(screen, table)
    for files, what in (
        (found.files, ""),
        (found.files_drawn, " (drawn at random to be named)"),
        (found.files_withheld, " (drawn at random not to be named)"),
    ):
        if files.named:
            _say_wrapped(f"Files for a prompt{what}: {_describe_files(files)}.")
    _say_wrapped(_describe_cost(found))


def _say_wrapped(text: str, style: str = "", indent: str = "") -> None:
    """Print a sentence on as many lines as it needs."""
    screen = console()
    for line in textwrap.wrap(text, screen.width, subsequent_indent=indent, break_on_hyphens=False) or [""]:
        say(screen, line, style)


def _cells(kind: TextKind, tally: Tally) -> list[str]:
    made = ["", ""] if kind in ("answer", "advice") else [str(tally.failed), str(tally.worked)]
    return [str(tally.said), *made, "" if kind in ("advice", "warning") else str(tally.followed)]


def _describe_files(files: FileTally) -> str:
    return f"{count(files.named, 'file')}, {files.opened} opened afterwards"


def _describe_cost(found: Receipts) -> str:
    mean = found.milliseconds / found.events if found.events else 0.0
    spent = f"{found.milliseconds:,.0f} ms in the daemon for {count(found.events, 'event')}"
    return (
        f"Cost: {tokens(found.tokens)} tokens (estimated), with {count(found.contexts, 'context')}; {spent} "
        f"({mean:.2f} ms each, the slowest {found.slowest_milliseconds:,.0f}). "
        "Not in it: the start of the hook's client, and what the agent's program does around a hook."
    )


def _show_sessions(sessions: tuple[SessionReceipt, ...]) -> None:
    told = [each for each in sessions if each.receipt.said or each.receipt.texts]
    if not told:
        return
    screen = console()
    is_narrow = screen.width < _NARROW
    table = plain_table()
    table.add_column("session", no_wrap=True)
    table.add_column("project", no_wrap=True, overflow="ellipsis", min_width=7)
    for title in ("last", "texts", "files opened", "tokens", "ms"):
        table.add_column("opened" if is_narrow and title == "files opened" else title, justify="right", no_wrap=True)
    for each in told[:_SESSIONS]:
        receipt = each.receipt
        shown = [file for file in receipt.files if file.is_shown]
        table.add_row(
            printable(each.session[: 8 if is_narrow else 12]),
            printable(os.path.basename(each.project)),
            day(each.last_at) if is_narrow else date_time(each.last_at),
            str(sum(one.is_shown for one in receipt.texts)),
            f"{sum(file.is_opened for file in shown)} of {len(shown)}" if shown else "",
            tokens(receipt.tokens),
            f"{receipt.microseconds / 1000:,.0f}",
        )
    print_table(screen, table)
    if len(told) > _SESSIONS:
        say(screen, f"{count(len(told) - _SESSIONS, 'more session')}; --json has them all.", "dim")


def _show_session(session: SessionReceipt) -> None:
    _say_wrapped(f"{title_of(session.agent)} {printable(session.session)} in {printable(session.project)}", "bold")
    for sent in session.receipt.texts:
        withheld = "" if sent.is_shown else " (withheld at random)"
        seen = f" ({_OUTCOMES[sent.outcome]})" if sent.kind != "advice" else ""
        text = " ".join(printable(sent.text).split())
        _say_wrapped(f"turn {sent.turn}: {_ONE[sent.kind]}{withheld}: {text}{seen}", indent="  ")
    for file in session.receipt.files:
        withheld = "" if file.is_shown else " (withheld at random)"
        _say_wrapped(
            f"named{withheld}: {printable(file.path)} ({'opened' if file.is_opened else 'not opened'})", indent="  "
        )


def _show_withdrawn(found: Receipts) -> None:
    for each in found.withdrawn:
        _say_wrapped(
            f"Withdrawn: in {printable(each.project)} no call is held for `{printable(each.reason)}` any more; of "
            f"{count(each.worked + each.failed, 'call')} that came again, {each.worked} worked.",
        )
