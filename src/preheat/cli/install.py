"""`preheat install`: puts Preheat's hooks into an agent's settings, after saying what that changes.

Knows no agent's settings.
"""

import os
import sys

import click

from preheat.app.agents import hookable_agents, title_of
from preheat.app.machine.installation import FileChange, FilePlan, StepChange, project_around
from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.home import open_preheat
from preheat.cli.install_ways import make_patch, show_installed
from preheat.cli.options import AgentName
from preheat.cli.screen import hint, print_json
from preheat.cli.text import count, short_path

HOOKED = hookable_agents()


@click.command(
    "install",
    cls=ExampleCommand,
    epilog=f"""\
  preheat install {HOOKED[0]}
  preheat install {HOOKED[1]} --dry-run        shows what would change, and changes nothing
  preheat install {HOOKED[4]} --project       for this project only
  preheat install {HOOKED[-1]} --how directory  in one of the ways the agent supports

Your settings are kept, and a backup is written beside them. `preheat uninstall AGENT` undoes it, to the byte if the file was
not changed in between. Agents with hooks: {", ".join(HOOKED)}.""",
)
@click.argument("agent", type=AgentName(), metavar="AGENT")
@click.option("--project", "here", is_flag=True, help="For the project around this folder, not for all.")
@click.option("--dry-run", is_flag=True, help="Show what would change; change nothing.")
@click.option(
    "--how", default="", metavar="WAY", help="How to install, where an agent supports several ways.  [default: chosen]"
)
@click.option("--http/--no-http", default=None, help="Post events to the daemon where the agent can, or never.")
@json_option
def install_command(agent: str, here: bool, dry_run: bool, how: str, http: bool | None, as_json: bool) -> int:
    """Have an agent call Preheat while it works.

    New sessions then start with what was learned here, and get advice when something goes wrong. A hook that fails or
    finds no daemon does not hold the agent up.
    """
    installation = open_preheat().installation
    steps = bool(how) or installation.has_steps(agent)
    if steps and not dry_run and not as_json and sys.stderr.isatty():
        hint("If packages have to be downloaded, this takes a minute.")
    change = installation.install(agent, project_around(os.getcwd()) if here else "", http, how, dry_run)
    if isinstance(change, StepChange):
        show_installed(change.work, change.done, as_json, trial=dry_run)
        if change.assignment and not as_json:
            print(change.assignment)
    elif dry_run:
        _show_plan(change.plan, as_json)
    elif as_json:
        print_json({**_file_change_json(change), "assignment": change.assignment})
    else:
        _show_file_change(change)
    return 0


def _show_file_change(change: FileChange) -> None:
    plan, title = change.plan, title_of(change.plan.agent)
    if plan.action == "nothing":
        print(f"{title} has Preheat's hooks already: {short_path(plan.path)} is as it should be.")
    else:
        posted = " (those after every call are posted to the daemon)" if plan.posts else ""
        what = f"{count(len(plan.events), 'hook')}{posted}" if plan.events else "the plugin"
        print(f"{title}: {what} added to {short_path(plan.path)}.")
    if change.backup:
        print(f"Backup: {short_path(change.backup)}")
    print(change.assignment)
    for note in (*plan.notes, *change.next_steps):
        print(note)
    if change.doubles:
        print("These files all call Preheat in the same session:")
        for path in change.doubles:
            print(f"  {short_path(path)}")
        print("`preheat status` says what to do about it.")
    where = " --project" if plan.project else ""
    hint(f"`preheat uninstall {plan.agent}{where}` removes it; `preheat status` says whether it works.")


def _show_plan(plan: FilePlan, as_json: bool) -> None:
    changes = make_patch(plan)
    if as_json:
        print_json({**_file_change_json(FileChange(plan)), "difference": changes})
        return
    print(changes or f"Nothing would change: {short_path(plan.path)} is as it should be.")
    for note in plan.notes:
        print(note)


def _file_change_json(change: FileChange) -> dict[str, object]:
    plan = change.plan
    return {
        "agent": plan.agent,
        "path": plan.path,
        "action": plan.action,
        "events": list(plan.events),
        "posts": plan.posts,
        "project": plan.project,
        "backup": change.backup,
        "fires_twice": list(change.doubles),
        "notes": list(plan.notes),
    }
