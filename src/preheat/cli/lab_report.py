"""`preheat lab report`: what a lab has shown, the plain sentence first."""

import click

from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.experiment_cards import with_all_fields
from preheat.cli.home import open_preheat
from preheat.cli.lab_cards import show_lab_report
from preheat.cli.screen import print_json


@click.command(
    "report",
    cls=ExampleCommand,
    epilog="""\
  preheat lab report shop
  preheat lab report path/to/a/lab
  preheat lab report shop --json | jq '.tried[] | select(.arm == "warm")'

Exit code 1: the report names problems.""",
)
@click.argument("name", metavar="NAME|FOLDER")
@json_option
def report_command(name: str, as_json: bool) -> int:
    """Show the results of a lab.

    The unit is the task: one that was run several times counts once, with its mean. A run counts in its arm, whatever the agent
    did with its context.
    """
    found = open_preheat().lab.report(name)
    if as_json:
        print_json(with_all_fields(found))
    else:
        show_lab_report(found)
    return 1 if found.problems else 0
