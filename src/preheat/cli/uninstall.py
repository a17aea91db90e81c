"""`preheat uninstall`: takes Preheat's hooks out of an agent's settings and nothing else.

Knows no agent's settings.
"""

import os

import click

from preheat.app.agents import title_of
from preheat.app.machine.installation import StepChange, project_around
from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.home import open_preheat
from preheat.cli.install import HOOKED
from preheat.cli.install_ways import make_patch, show_removed
from preheat.cli.options import AgentName
from preheat.cli.screen import print_json
from preheat.cli.text import short_path

_DONE = {
    "restore": "{path} is as it was before, to the byte.",
    "delete": "{path} was deleted: there was none before.",
    "change": "Preheat's hooks were removed from {path}; other changes there stay.",
}


@click.command(
    "uninstall",
    cls=ExampleCommand,
    epilog=f"""\
  preheat uninstall {HOOKED[0]}
  preheat uninstall {HOOKED[4]} --project
  preheat uninstall {HOOKED[1]} --dry-run      shows what would change, and changes nothing""",
)
@click.argument("agent", type=AgentName(), metavar="AGENT")
@click.option("--project", "here", is_flag=True, help="In the project around this folder, not for all.")
@click.option("--dry-run", is_flag=True, help="Show what would change; change nothing.")
@json_option
def uninstall_command(agent: str, here: bool, dry_run: bool, as_json: bool) -> int:
    """Remove Preheat from an agent's settings."""
    installation = open_preheat().installation
    change = installation.uninstall(agent, project_around(os.getcwd()) if here else "", dry_run)
    if isinstance(change, StepChange):
        show_removed(change.work, change.done, as_json, dry_run)
    elif as_json:
        path, action = (change.plan.path, change.plan.action) if change is not None else ("", "nothing")
        shown = {"difference": make_patch(change.plan)} if change is not None and dry_run else {}
        print_json({"agent": agent, "path": path, "action": action, **shown})
    elif change is None:
        where = "" if installation.has_steps(agent) else " in this project" if here else " in your own settings"
        print(f"{title_of(agent)} does not call Preheat{where}; `preheat status` says what does.")
    elif dry_run:
        print(make_patch(change.plan))
    else:
        print(_DONE[change.plan.action].format(path=short_path(change.plan.path)))
    return 0
