"""The commands of `preheat team` about data: status, allow, push, pull. Decides nothing itself."""

import sys
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from preheat.app.lazy import LazyModule
from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.home import open_analysed_archive, open_archive, open_preheat
from preheat.cli.progress import Display
from preheat.cli.screen import hint, print_json
from preheat.cli.text import count, printable
from preheat.errors import UserError
from preheat.model.team import LEVELS, Level

if TYPE_CHECKING:
    from preheat.cli import team_screen as _screen
    from preheat.model.team import PushReport
else:  # rich takes longer than a completion
    _screen = LazyModule("preheat.cli.team_screen")


class ProjectName(click.ParamType):  # type: ignore[type-arg] # not generic in older releases
    """A project by its name or a folder in it."""

    name = "project"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        try:
            found = open_archive().projects.describe_all().projects
        except UserError:
            return []
        return [CompletionItem(each.name, help=each.known_by) for each in found if each.name.startswith(incomplete)]


@click.command(
    "status",
    cls=ExampleCommand,
    epilog="""\
  preheat team status
  preheat team status --json | jq '.numbers.repository'

Numbers are of everybody together. A group of too few people (three, unless the owner said otherwise) is not shown by
itself, and neither is what could be computed by taking the shown groups from the whole.""",
)
@json_option
def status_command(as_json: bool) -> int:
    """Show what this machine pushes, and the numbers of the team."""
    status = open_preheat().team.status()
    if as_json:
        print_json(status)
    elif not status.joined:
        hint(
            "This machine is in no team. `preheat team join ADDRESS` joins one, `preheat team init ADDRESS` makes one."
        )
    else:
        _screen.show_status(status)
    return 1 if status.problem else 0


@click.command(
    "allow",
    cls=ExampleCommand,
    epilog="""\
  preheat team allow . derived                numbers, names of files, approved lessons; no text
  preheat team allow shop transcripts         also whole sessions, without secrets, for reviewers
  preheat team allow ~/work/secret nothing    nothing, and delete what was pushed with the next push

A project with a remote is `derived` unless you say otherwise, one without is `nothing`. The next push shows every field
and asks, before anything is sent at a new level.""",
)
@click.argument("project", type=ProjectName())
@click.argument("level", type=click.Choice(LEVELS))
@json_option
def allow_command(project: str, level: Level, as_json: bool) -> int:
    """Say what may be pushed of a project."""
    changed = open_archive().team.allow(project, level)
    if as_json:
        print_json(changed)
        return 0
    print(f"`{printable(changed.name)}`: {level}.")
    if level == "nothing":
        hint("The next `preheat team push` deletes what was pushed of it.")
    elif not changed.is_agreed:
        hint("The next `preheat team push` shows what that is, and asks.")
    return 0


@click.command(
    "push",
    cls=ExampleCommand,
    epilog="""\
  preheat team push --dry-run           every field with a real value, and how many rows; nothing is sent
  preheat team push                     asks about projects of which nothing was pushed before
  preheat team push --yes               agrees to all of them
  preheat team push --quiet             for a timer: only projects that you agreed to

Only what is new or changed is sent. A push can be stopped at any time: the next one continues from there. Sessions that you
delete (`preheat sessions delete`) are deleted from the server, too.
`automatic = true` below `[team]` in settings.toml pushes and pulls in quiet times.""",
)
@click.option("--dry-run", is_flag=True, help="Show what would be pushed; send nothing.")
@click.option("--yes", "-y", is_flag=True, help="Agree to what is pushed of every project, without a question.")
@click.option("--quiet", "-q", is_flag=True, help="Print only problems; ask nothing.")
@json_option
def push_command(dry_run: bool, yes: bool, quiet: bool, as_json: bool) -> int:
    """Push what you allow to the team, after showing exactly what that is."""
    team = open_analysed_archive().team
    with Display(quiet=quiet) as progress:
        plan = team.plan_push(dry_run, progress)
    if dry_run:
        if as_json:
            print_json(plan)
        else:
            _screen.show_plan(plan)
            print("Nothing was sent.")
        return 0
    if plan.unagreed and (yes or not quiet):
        can_ask = sys.stdin.isatty() and sys.stdout.isatty() and not as_json
        if not yes and can_ask:
            _screen.show_plan(plan)
            names = ", ".join(f"`{printable(each.name)}`" for each in plan.unagreed)
            yes = click.confirm(f"Push this of {names} to the team `{plan.team}`, now and from now on?", default=False)
        if yes:
            team.agree(plan)
    is_agreed = yes or any(each.level != "nothing" and each.is_agreed for each in plan.projects)
    if plan.unagreed and not (is_agreed or plan.deletions or quiet):
        names = ", ".join(f"`{printable(each.name)}`" for each in plan.unagreed[:3])
        raise UserError(
            f"nothing was pushed: you have not agreed to what is pushed of {names}; `preheat team push --dry-run` shows it, "
            "`--yes` agrees"
        )
    with Display(quiet=quiet) as progress:
        report = team.push(progress)
    if as_json:
        print_json(report)
    elif not quiet:
        _print_report(report)
    return 0


def _print_report(report: "PushReport") -> None:
    parts = [
        f"{count(report.sessions, 'session')} sent, {report.unchanged:,} unchanged",
        f"{count(report.lessons, 'lesson')} proposed",
    ]
    if report.deleted:
        parts.append(f"{count(report.deleted, 'session')} deleted from the server")
    if report.withdrawn:
        parts.append(f"{count(report.withdrawn, 'lesson')} withdrawn")
    print(f"{'; '.join(parts)}.")
    if report.waiting:
        names = ", ".join(f"`{printable(each)}`" for each in report.waiting[:5])
        hint(f"Waiting for your answer, and not pushed: {names}. `preheat team push` on a terminal shows and asks.")


@click.command(
    "pull",
    cls=ExampleCommand,
    epilog="""\
  preheat team pull
  preheat team pull --json

What comes is taken only if it is a lesson in our own grammar, whatever the server says. Lessons that the team no longer
approves are gone after a pull. `preheat lessons list` shows them with those of this machine.""",
)
@click.option("--quiet", "-q", is_flag=True, help="Print only problems.")
@json_option
def pull_command(quiet: bool, as_json: bool) -> int:
    """Get the lessons that the team's reviewers approved."""
    report = open_preheat().team.pull()
    if as_json:
        print_json(report)
    elif not quiet:
        print(f"{count(report.lessons, 'approved lesson')}: {report.added:,} new, {report.removed:,} gone.")
    if report.refused and not as_json:
        hint(f"{count(report.refused, 'lesson')} of the server not taken: nothing that our grammar allows.")
    return 1 if report.refused else 0
