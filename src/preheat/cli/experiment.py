"""`preheat experiment`: comparisons by lot. Its commands by name; each has a module of its own."""

import click

from preheat.cli.command import ExampleGroup
from preheat.cli.experiment_explain import explain_command
from preheat.cli.experiment_list import list_command
from preheat.cli.experiment_power import power_command
from preheat.cli.experiment_report import report_command
from preheat.cli.experiment_start import start_command
from preheat.cli.experiment_status import status_command
from preheat.cli.experiment_stop import stop_command


@click.group(
    "experiment",
    cls=ExampleGroup,
    epilog="""\
  preheat experiment status                     does starting warm help here?
  preheat experiment power --margin 0.01        how many sessions it takes to tell
  preheat experiment start mine --arms warm,cold --shares 0.5,0.5 --metric misuse
  preheat experiment report mine
  preheat experiment stop mine                  the ledger keeps what it showed, whatever that is""",
)
def experiment_group() -> None:
    """Find out by lot whether any of it helps.

    One session in five starts without, by a standing holdout, so that there is always something to compare with. An
    experiment with a plan takes its place while it runs: it names its arms, its metric and its end before the first session.
    """


for _command in (
    status_command,
    start_command,
    report_command,
    stop_command,
    power_command,
    explain_command,
    list_command,
):
    experiment_group.add_command(_command)
