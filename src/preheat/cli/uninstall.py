"""`preheat uninstall`: takes Preheat's hooks out of an agent's settings and nothing else.

Knows no agent's settings.
"""

import os
import time

import click

from preheat.agents import HOOKED
from preheat.cli.options import AgentName, Examples, json_option
from preheat.cli.text import short_path
from preheat.settings import data_folder

_DONE = {
    "restore": "{path} is as it was before, to the byte.",
    "delete": "{path} is gone: there was none before.",
    "change": "Preheat's hooks are out of {path}; what else was changed there since stays.",
}


@click.command(
    cls=Examples,
    epilog=f"""\
  preheat uninstall {HOOKED[0]}
  preheat uninstall {HOOKED[4]} --project
  preheat uninstall {HOOKED[1]} --dry-run      shows what would change, and changes nothing""",
)
@click.argument("agent", type=AgentName(), metavar="AGENT")
@click.option("--project", "here", is_flag=True, help="In the project around this folder, not for all.")
@click.option("--dry-run", is_flag=True, help="Show what would change; change nothing.")
@json_option
def command(agent: str, here: bool, dry_run: bool, as_json: bool) -> int:
    """Take Preheat out of an agent's settings again."""
    from preheat.agents import places_of
    from preheat.cli.install import difference, project_here
    from preheat.cli.screen import print_json
    from preheat.installing.plans import carry_out, hooks_for, uninstall_plan

    folder = data_folder()
    if hooks_for(agent).setup.several is not None:
        return _several(agent, folder, here, dry_run, as_json)
    plan = uninstall_plan(agent, folder, os.environ, project_here() if here else "")
    if plan is not None and not dry_run:
        carry_out(plan, folder, time.time())
    if as_json:
        path, action = (plan.path, plan.action) if plan is not None else ("", "nothing")
        shown = {"difference": difference(plan)} if plan is not None and dry_run else {}
        print_json({"agent": agent, "path": path, "action": action, **shown})
    elif plan is None:
        where = "in this project" if here else "in your own settings"
        print(f"{places_of(agent).title} does not call Preheat {where}; `preheat status` says what does.")
    elif dry_run:
        print(difference(plan))
    else:
        print(_DONE[plan.action].format(path=short_path(plan.path)))
    return 0


def _several(agent: str, folder: str, here: bool, dry_run: bool, as_json: bool) -> int:
    """One that is set up in several steps."""
    from preheat.agents import places_of
    from preheat.cli.install import refuse_project
    from preheat.cli.install_ways import show_removed
    from preheat.cli.screen import print_json
    from preheat.errors import UserError
    from preheat.installing.packages import Cannot
    from preheat.installing.several import Done, do, uninstall_work

    refuse_project(agent, here)
    work = uninstall_work(agent, folder, os.environ)
    if work is None:
        if as_json:
            print_json({"agent": agent, "path": "", "action": "nothing"})
        else:
            print(f"{places_of(agent).title} does not call Preheat; `preheat status` says what does.")
        return 0
    try:
        done = Done() if dry_run else do(work, folder, os.environ, time.time())
    except Cannot as problem:
        raise UserError(f"packages could not be taken out: {problem}. Run this again when that is mended") from None
    show_removed(work, done, as_json, dry_run)
    return 0
