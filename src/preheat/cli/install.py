"""`preheat install`: puts Preheat's hooks into an agent's settings, after saying what that changes.

Knows no agent's settings.
"""

import os
import sys
import time
from typing import TYPE_CHECKING

import click

from preheat.agents import HOOKED
from preheat.cli.options import AgentName, Examples, json_option
from preheat.cli.text import count, short_path
from preheat.settings import data_folder

if TYPE_CHECKING:
    from preheat.installing.plans import Plan


@click.command(
    cls=Examples,
    epilog=f"""\
  preheat install {HOOKED[0]}
  preheat install {HOOKED[1]} --dry-run        shows what would change, and changes nothing
  preheat install {HOOKED[4]} --project       for this project only
  preheat install {HOOKED[-1]} --how directory  in one of several ways, where an agent has several

What is in the settings stays as it is; a backup is put beside them. `preheat uninstall AGENT` undoes it, to the byte if
nobody changed the file in between. Agents with hooks: {", ".join(HOOKED)}.""",
)
@click.argument("agent", type=AgentName(), metavar="AGENT")
@click.option("--project", "here", is_flag=True, help="For the project around this folder, not for all.")
@click.option("--dry-run", is_flag=True, help="Show what would change; change nothing.")
@click.option("--how", default="", metavar="WAY", help="In which way, where an agent has several; else it is chosen.")
@click.option("--http/--no-http", default=None, help="Post events to the daemon where the agent can, or never.")
@json_option
def command(agent: str, here: bool, dry_run: bool, how: str, http: bool | None, as_json: bool) -> int:
    """Have an agent call Preheat while it works.

    New sessions then start with what was learned here, and are told when something is going wrong. A hook that fails or
    finds no daemon costs the agent nothing.
    """
    from preheat.agents import places_of
    from preheat.app.assignment import told
    from preheat.app.trial_store import make_key
    from preheat.installing.plans import carry_out, hooks_for, install_plan
    from preheat.installing.standing import double_firing

    folder = data_folder()
    if how or hooks_for(agent).setup.several is not None:
        _several(agent, folder, here, dry_run, how, as_json)
        if not dry_run:
            make_key(folder)
            if not as_json:
                print(told(folder))
        return 0
    project = project_here() if here else ""
    plan = install_plan(agent, folder, os.environ, project, http, trial=dry_run)
    if dry_run:
        return _show(plan, as_json)
    backup = carry_out(plan, folder, time.time())
    make_key(folder)  # from now on lots are drawn: the person is told below
    doubles = double_firing(agent, os.environ, project or project_here())
    if as_json:
        from preheat.cli.screen import print_json

        print_json({**_report(plan, backup, doubles), "lots": told(folder)})
        return 0
    title = places_of(agent).title
    if plan.action == "nothing":
        print(f"{title} has them already: {short_path(plan.path)} is as it should be.")
    else:
        posted = " (those after every call are posted to the daemon)" if plan.posts else ""
        what = f"{count(len(plan.events), 'hook')}{posted}" if plan.events else "the plugin"
        print(f"{title}: {what} put into {short_path(plan.path)}.")
    if backup:
        print(f"As it was before: {short_path(backup)}")
    print(told(folder))
    _say_next(plan, doubles)
    return 0


def _several(agent: str, folder: str, here: bool, dry_run: bool, how: str, as_json: bool) -> None:
    """One that is set up in several steps."""
    from preheat.cli.install_ways import show_installed
    from preheat.cli.screen import hint
    from preheat.installing.several import Done, install, install_work

    refuse_project(agent, here)
    if dry_run:
        show_installed(install_work(agent, folder, os.environ, how), Done(), as_json, trial=True)
    else:
        if sys.stderr.isatty() and not as_json:
            hint("Where packages have to be fetched this takes a minute.")
        show_installed(*install(agent, folder, os.environ, how, time.time()), as_json)


def refuse_project(agent: str, here: bool) -> None:
    """Some agents are set up for all projects or for none."""
    from preheat.agents import places_of
    from preheat.errors import UserError

    if here:
        raise UserError(f"{places_of(agent).title} is set up for all projects; leave `--project` out")


def project_here() -> str:
    """The project around the current folder: where its version control begins, else the folder itself."""
    folder = here = os.path.realpath(os.getcwd())
    while True:
        if os.path.exists(os.path.join(folder, ".git")):
            return folder
        above = os.path.dirname(folder)
        if above == folder:
            return here
        folder = above


def _report(plan: "Plan", backup: str, doubles: list[str]) -> dict[str, object]:
    return {
        "agent": plan.agent,
        "path": plan.path,
        "action": plan.action,
        "events": list(plan.events),
        "posts": plan.posts,
        "project": plan.project,
        "backup": backup,
        "fires_twice": doubles,
        "notes": list(plan.notes),
    }


def _show(plan: "Plan", as_json: bool) -> int:
    from preheat.cli.screen import print_json

    changes = difference(plan)
    if as_json:
        print_json({**_report(plan, "", []), "difference": changes})
    else:
        print(changes or f"Nothing would change: {short_path(plan.path)} is as it should be.")
        for note in plan.notes:
            print(note)
    return 0


def difference(plan: "Plan") -> str:
    """What a plan changes, as a patch."""
    from difflib import unified_diff

    before = (plan.before or b"").decode("utf-8", "replace").splitlines()
    after = (plan.after or b"").decode("utf-8", "replace").splitlines()
    name = short_path(plan.path)
    old = name if plan.before is not None else "(no file)"
    new = name if plan.after is not None else "(no file)"
    return "\n".join(unified_diff(before, after, old, new, lineterm=""))


def _say_next(plan: "Plan", doubles: list[str]) -> None:
    from preheat.cli.screen import hint
    from preheat.installing.plans import hooks_for

    setup = hooks_for(plan.agent).setup
    for note in (*plan.notes, *setup.next_steps):
        print(note)
    if doubles:
        print("These files call Preheat in the same session:")
        for path in doubles:
            print(f"  {short_path(path)}")
        print("`preheat status` says what to do about it.")
    where = " --project" if plan.project else ""
    hint(f"`preheat uninstall {plan.agent}{where}` takes it out again; `preheat status` says whether it works.")
