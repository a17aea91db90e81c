"""`preheat experiment list`: the experiments, those that run and those that are over."""

import click

from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.experiment_cards import with_all_fields
from preheat.cli.home import open_preheat
from preheat.cli.screen import clean, console, hint, print_json, say
from preheat.cli.text import columns, day


@click.command(
    "list",
    cls=ExampleCommand,
    epilog="""\
  preheat experiment list
  preheat experiment list --json""",
)
@json_option
def list_command(as_json: bool) -> int:
    """List the experiments."""
    plans = open_preheat().experiments.plans()
    if as_json:
        print_json(with_all_fields(plans))
        return 0
    if not plans:
        hint(
            "No experiment yet; `preheat experiment start NAME` begins one. The holdout has no plan and is not listed."
        )
        return 0
    rows = [["name", "since", "until", "arms", "metric", "verdict"]]
    for each in plans:
        plan, stopped = each.plan, each.stopped
        verdict = each.verdict if each.verdict is not None else "runs" if stopped is None else ""
        until = day(stopped) if stopped is not None else ""
        rows.append([plan.name, day(plan.at), until, ", ".join(plan.arms), plan.metric, verdict])
    for line in columns(rows, left=6):
        say(console(), clean(line))
    return 0
