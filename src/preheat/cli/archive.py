"""The commands `preheat sync` and `preheat sessions delete`: what goes into the archive, and what is deleted from it for good.

Never touches the agents' own files.
"""

import os
import sys
from typing import TYPE_CHECKING, NamedTuple

import click

from preheat.app.agents import agent_names, title_of
from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.home import open_archive, open_preheat
from preheat.cli.options import AgentName, SessionName
from preheat.cli.screen import clean, console, print_json, say
from preheat.cli.sync_report import sync_archive
from preheat.cli.text import count, date_time, one_line, short_path
from preheat.errors import UserError

if TYPE_CHECKING:
    from preheat.model.listing import ForgetPlan, SessionSummary


# `preheat sync`
@click.command(
    "sync",
    cls=ExampleCommand,
    epilog="""\
  preheat sync                          everything new, of all agents
  preheat sync --agent NAME             of one agent only (`preheat admin doctor` lists them)
  preheat sync backup/projects          all sessions below a folder, of any agent
  preheat sync run.traj.json --json     one file; the report as JSON

Only what has changed is read. A sync can be stopped at any time: the next one continues from there.
Every line that cannot be read is named on the error stream; the rest is still read, and the exit code is 1.""",
)
@click.argument("files", nargs=-1, type=click.Path(), metavar="[FILE|FOLDER]...")
@click.option(
    "--agent", "agents", type=AgentName(), multiple=True, metavar="NAME", help="Only this agent (repeatable)."
)
@click.option("--quiet", "-q", is_flag=True, help="Print only problems.")
@json_option
def sync_command(files: tuple[str, ...], agents: tuple[str, ...], quiet: bool, as_json: bool) -> int:
    """Read what is new into the archive.

    Without FILE, looks where each agent keeps its sessions. Secrets are removed before anything is stored.
    """
    return sync_archive(tuple(agent for agent in agent_names() if agent in agents), files, quiet, as_json)


# `preheat sessions delete`
_MOST = 30


@click.command(
    "delete",
    cls=ExampleCommand,
    epilog="""\
  preheat sessions delete 0f3c1a2b                    shows what would be deleted, and asks
  preheat sessions delete latest --dry-run
  preheat sessions delete --project ~/work/secret     every session of a project and the folders below it
  preheat sessions delete 0f3c1a2b --yes --json       for programs

There is no undo: the bytes are overwritten, and later syncs leave the session alone. In a team its server deletes it, too;
if that is away, the next `preheat team push` sees to it. The agent's own file is not touched; the command says where it is.""",
)
@click.argument("names", nargs=-1, type=SessionName(), metavar="[SESSION]...")
@click.option("--project", metavar="PATH", help="Every session of this project and of the folders below it.")
@click.option("--dry-run", is_flag=True, help="Show what would be deleted; delete nothing.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@json_option
def delete_command(names: tuple[str, ...], project: str | None, dry_run: bool, yes: bool, as_json: bool) -> int:
    """Delete sessions from the archive for good.

    Their subagents are deleted with them, and so are other sessions in the same file.
    """
    if bool(names) == bool(project):
        raise click.UsageError("name sessions, or give --project")
    if not (yes or dry_run) and (as_json or not (sys.stdin.isatty() and sys.stdout.isatty())):
        raise UserError("this deletes for good: give `--yes` where nobody can be asked")
    sessions = open_archive().archive
    plan = sessions.plan_forgetting(names, project or "")
    if dry_run:
        if as_json:
            print_json({"would_delete": [summary.key for summary in plan.sessions], "agent_files_left": plan.files})
        else:
            _show_plan(plan)
            print("Nothing was deleted.")
        return 0
    if not yes:
        _show_plan(plan)
        if not click.confirm("Delete them from the archive for good?", default=False):
            print("Nothing was deleted.")
            return 0
    deleted = sessions.forget(summary.key for summary in plan.sessions)
    remaining = [path for path in plan.files if os.path.exists(path)]
    told = _tell_team()
    if as_json:
        print_json(
            {
                "forgotten": [summary.key for summary in plan.sessions],
                "agent_files_left": remaining,
                "may_repeat_parts": [summary.key for summary in plan.copies],
                **({"team": told._asdict()} if told else {}),
            }
        )
    else:
        _print_result(deleted, remaining, plan.copies)
        if told and told.problem:
            print(f"The team's server was not told: {told.problem}")
        elif told:
            print(f"The team's server has deleted {count(told.deleted, 'session')}.")
    return 0


class _ToldTeam(NamedTuple):
    """What became of deleted sessions on the team's server."""

    deleted: int
    waiting: int
    problem: str


def _tell_team() -> _ToldTeam | None:
    """Delete the sessions from the team's server, too; if that is away they wait for the next push. None in no team."""
    team = open_preheat().team
    if not team.waiting_deletions():
        return None
    try:
        return _ToldTeam(team.delete_queued(), 0, "")
    except UserError as error:
        return _ToldTeam(0, team.waiting_deletions(), str(error))


def _show_plan(plan: "ForgetPlan") -> None:
    screen = console()
    say(screen, f"{count(len(plan.sessions), 'session')} will be deleted from the archive:", "bold")
    for summary in plan.sessions[:_MOST]:
        about = one_line(clean(summary.title or summary.opening), 50)
        facts = f"{date_time(summary.started_at)}  {title_of(summary.agent)}  {count(summary.messages, 'message')}"
        say(screen, f"  {summary.session}  {facts}  {about}".rstrip())
    if len(plan.sessions) > _MOST:
        say(screen, f"  and {len(plan.sessions) - _MOST:,} more")
    if plan.copies:
        say(screen, f"{count(len(plan.copies), 'session')} continued from them may repeat parts, and will stay:")
        for summary in plan.copies:
            say(screen, f"  {summary.session}  ({summary.relation})")


def _print_result(deleted: int, remaining: list[str], copies: "list[SessionSummary]") -> None:
    print(f"{count(deleted, 'session')} deleted from the archive; later syncs leave them alone.")
    if remaining:
        print("The agent's own files are still there; delete them yourself if you want to:")
        for path in remaining[:_MOST]:
            print(f"  {short_path(path)}")
        if len(remaining) > _MOST:
            print(f"  and {len(remaining) - _MOST:,} more (`--json` lists them all)")
    for summary in copies:
        print(f"`{summary.session}` ({summary.relation}) may repeat parts of it and was not deleted.")
