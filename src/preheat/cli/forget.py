"""`preheat forget`: deletes sessions from the archive for good, after showing exactly what goes.

Never touches the agents' own files, and says where they are.
"""

import os
import sqlite3
import sys
from contextlib import suppress

import click
import msgspec

from preheat.archive.queries import children, find, paths_of, sessions
from preheat.archive.raw import companions
from preheat.cli.options import Examples, SessionName, archive, json_option
from preheat.cli.text import count, moment, one_line, short_path
from preheat.errors import NotFound, UserError
from preheat.model.listing import Filter, Summary
from preheat.settings import data_folder

_MOST = 30


class Plan(msgspec.Struct, frozen=True):
    """What is going to be deleted."""

    sessions: list[Summary]
    files: list[str]
    """The agents' own files, which stay."""
    copies: list[Summary]
    """Sessions that came out of these, may repeat parts of them, and stay."""


@click.command(
    cls=Examples,
    epilog="""\
  preheat forget 0f3c1a2b                    shows what goes, and asks
  preheat forget --project ~/work/secret     every session of a project and the folders below it
  preheat forget 0f3c1a2b --yes --json       for programs

There is no undo: the bytes are overwritten, and later syncs leave the session alone. The agent's own file is not
touched; the command says where it is.""",
)
@click.argument("names", nargs=-1, type=SessionName(), metavar="[SESSION]...")
@click.option("--project", metavar="PATH", help="Every session of this project and of the folders below it.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@json_option
def command(names: tuple[str, ...], project: str | None, yes: bool, as_json: bool) -> int:
    """Delete sessions from the archive for good.

    Their subagents go with them, and so do other sessions that stand in the same file.
    """
    if bool(names) == bool(project):
        raise click.UsageError("name sessions, or give --project")
    if not yes and (as_json or not (sys.stdin.isatty() and sys.stdout.isatty())):
        raise UserError("this deletes for good: give `--yes` when no one can be asked")
    with archive() as connection:
        plan = _plan(connection, names, project)
        if not yes:
            _show(plan)
            if not click.confirm("Delete them from the archive for good?", default=False):
                print("Nothing was deleted.")
                return 0
    from preheat.app import stages as pipeline

    gone = pipeline.forget(data_folder(), [summary.key for summary in plan.sessions])
    still = [path for path in plan.files if os.path.exists(path)]
    if as_json:
        from preheat.cli.screen import print_json

        print_json(
            {
                "forgotten": [summary.key for summary in plan.sessions],
                "agent_files_left": still,
                "may_repeat_parts": [summary.key for summary in plan.copies],
            }
        )
    else:
        _say_done(gone, still, plan.copies)
    return 0


def _plan(connection: sqlite3.Connection, names: tuple[str, ...], project: str | None) -> Plan:
    first = [find(connection, name) for name in names] if names else _of_project(connection, project or "")
    going: dict[str, Summary] = {}
    copies: dict[str, Summary] = {}
    waiting = list(first)
    while waiting:
        summary = waiting.pop()
        if summary.key in going:
            continue
        going[summary.key] = summary
        for key in companions(connection, summary.key):
            with suppress(NotFound):
                waiting.append(find(connection, key))
        for child in children(connection, summary):
            if child.relation == "subagent":
                waiting.append(child)
            else:
                copies[child.key] = child
    files = paths_of(connection, list(going))
    ordered = sorted(going.values(), key=lambda summary: (summary.started_at or 0, summary.key))
    return Plan(ordered, files, [summary for key, summary in copies.items() if key not in going])


def _of_project(connection: sqlite3.Connection, project: str) -> list[Summary]:
    """Exactly this folder and what is below it: a part of a name is not enough to delete by."""
    wanted = [project.rstrip("/\\"), os.path.abspath(os.path.expanduser(project))]
    found = [
        summary
        for path in dict.fromkeys(wanted)
        for summary in sessions(connection, Filter(project=path))
        if summary.project == path or summary.project.startswith((f"{path}/", f"{path}\\"))
    ]
    if not found:
        raise UserError(
            f"no session of project `{wanted[-1]}` in the archive; `preheat sessions list` shows the projects"
        )
    return found


def _show(plan: Plan) -> None:
    from preheat.cli.heading import agent_title
    from preheat.cli.screen import clean, console, say

    screen = console()
    say(screen, f"{count(len(plan.sessions), 'session')} will be deleted from the archive:", "bold")
    for summary in plan.sessions[:_MOST]:
        about = one_line(clean(summary.title or summary.opening), 50)
        facts = f"{moment(summary.started_at)}  {agent_title(summary.agent)}  {count(summary.messages, 'message')}"
        say(screen, f"  {summary.session}  {facts}  {about}".rstrip())
    if len(plan.sessions) > _MOST:
        say(screen, f"  and {len(plan.sessions) - _MOST:,} more")
    if plan.copies:
        say(screen, f"{count(len(plan.copies), 'session')} that came out of them may repeat parts, and will stay:")
        for summary in plan.copies:
            say(screen, f"  {summary.session}  ({summary.relation})")


def _say_done(gone: int, still: list[str], copies: list[Summary]) -> None:
    print(f"{count(gone, 'session')} deleted from the archive; later syncs leave them alone.")
    if still:
        print("The agent's own files are still there; delete them yourself if they should go too:")
        for path in still[:_MOST]:
            print(f"  {short_path(path)}")
        if len(still) > _MOST:
            print(f"  and {len(still) - _MOST:,} more (`--json` lists them all)")
    for summary in copies:
        print(f"`{summary.session}` ({summary.relation}) may repeat parts of it and was not deleted.")
