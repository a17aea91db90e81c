"""`preheat experiment report`: everything that an experiment has shown, the plain sentence first."""

import click

from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.experiment_cards import show_report, with_all_fields
from preheat.cli.home import open_preheat
from preheat.cli.screen import print_json


@click.command(
    "report",
    cls=ExampleCommand,
    epilog="""\
  preheat experiment report                     the running one, else the holdout
  preheat experiment report standing
  preheat experiment report mine --json | jq .estimates

Exit code 1: the arms did not get their planned shares, so no number can be trusted.""",
)
@click.argument("name", default="")
@json_option
def report_command(name: str, as_json: bool) -> int:
    """Show the results of an experiment.

    Every session counts in the arm that it was assigned to, whatever was delivered. Run `preheat sync` and `preheat learn`
    first, or let your agent's hooks do it: only sessions that are in the archive and analysed can be compared.
    """
    found = open_preheat().experiments.report(name)
    if as_json:
        print_json(with_all_fields(found))
    else:
        show_report(found)
    return 1 if found.ratios_broken else 0
