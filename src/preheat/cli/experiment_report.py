"""`preheat experiment report`: everything that an experiment has shown, the plain sentence first."""

import click

from preheat.cli.experiment_cards import show_report, whole
from preheat.cli.home import home
from preheat.cli.options import Examples, json_option
from preheat.cli.screen import print_json


@click.command(
    "report",
    cls=Examples,
    epilog="""\
  preheat experiment report                     the one that runs, else the standing holdout
  preheat experiment report standing
  preheat experiment report mine --json | jq .estimates

Exit code 1: the arms did not get their shares, and no number is to be believed.""",
)
@click.argument("name", default="")
@json_option
def report_command(name: str, as_json: bool) -> int:
    """Show everything that an experiment has shown.

    Whoever was assigned counts in that arm, whatever was delivered. Run `preheat sync` and `preheat learn` first, or let
    your agent's hooks do it: only sessions that are in the archive and judged can be compared.
    """
    found = home().experiments.report(name)
    if as_json:
        print_json(whole(found))
    else:
        show_report(found)
    return 1 if found.ratios_broken else 0
