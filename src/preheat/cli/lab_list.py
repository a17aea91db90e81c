"""`preheat lab list`: the labs that were run."""

import click

from preheat.cli.options import Examples, json_option
from preheat.errors import UserError
from preheat.settings import data_folder


@click.command(
    cls=Examples,
    epilog="""\
  preheat lab list
  preheat lab list --json""",
)
@json_option
def command(as_json: bool) -> int:
    """List the labs."""
    import os

    from preheat.cli.screen import clean, console, hint, print_json, say
    from preheat.cli.text import columns, day
    from preheat.lab.plan import order
    from preheat.lab.state import every_lab

    every, damaged = [], False
    for lab in every_lab(data_folder()):
        try:
            every.append((lab, lab.plan(), len(lab.tried())))
        except UserError as error:  # the others can be listed all the same
            damaged = True
            hint(f"preheat: {clean(str(error))}")
    if as_json:
        print_json(
            [
                {
                    "name": os.path.basename(lab.folder),
                    "folder": lab.folder,
                    "at": plan.at,
                    "agent": plan.agent,
                    "model": plan.model,
                    "arms": plan.arms,
                    "tasks": len(plan.tasks),
                    "runs": runs,
                    "planned": len(order(plan)),
                }
                for lab, plan, runs in every
            ]
        )
        return int(damaged)
    if not every:
        if damaged:
            return 1
        hint("No lab yet; `preheat lab run SUITE` starts one.")
        return 0
    rows = [["name", "since", "agent", "model", "arms", "runs"]]
    for lab, plan, runs in every:
        done = f"{runs} of {len(order(plan))}"
        rows.append([os.path.basename(lab.folder), day(plan.at), plan.agent, plan.model, ", ".join(plan.arms), done])
    for line in columns(rows, left=5):
        say(console(), clean(line))
    return int(damaged)
