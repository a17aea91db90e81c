"""`preheat lab list`: the labs that were run."""

import click

from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.home import open_preheat
from preheat.cli.screen import clean, console, hint, print_json, say
from preheat.cli.text import columns, day


@click.command(
    "list",
    cls=ExampleCommand,
    epilog="""\
  preheat lab list
  preheat lab list --json""",
)
@json_option
def list_command(as_json: bool) -> int:
    """List the labs."""
    found = open_preheat().lab.labs()
    for problem in found.damaged:
        hint(f"preheat: {clean(problem)}")
    if as_json:
        print_json(
            [
                {
                    "name": lab.name,
                    "folder": lab.folder,
                    "at": lab.plan.at,
                    "agent": lab.plan.agent,
                    "model": lab.plan.model,
                    "arms": lab.plan.arms,
                    "tasks": len(lab.plan.tasks),
                    "runs": lab.runs,
                    "planned": lab.planned,
                }
                for lab in found.labs
            ]
        )
    elif found.labs:
        rows = [["name", "since", "agent", "model", "arms", "runs"]]
        for lab in found.labs:
            plan, done = lab.plan, f"{lab.runs} of {lab.planned}"
            rows.append([lab.name, day(plan.at), plan.agent, plan.model, ", ".join(plan.arms), done])
        for line in columns(rows, left=5):
            say(console(), clean(line))
    elif not found.damaged:
        hint("No lab yet; `preheat lab run SUITE` starts one.")
    return 1 if found.damaged else 0
