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
  preheat experiment power --margin 0.01        how many sessions a comparison needs
  preheat experiment start mine --arms warm,cold --shares 0.5,0.5
  preheat experiment report mine
  preheat experiment stop mine                  its result goes into the ledger, whatever it is""",
)
def experiment_group() -> None:
    """Find out by random assignment whether Preheat helps.

    One session in five starts without Preheat's context: the holdout, so that there is always something to compare with.
    While an experiment runs, its plan replaces the holdout. A plan names its arms, its metric and its end before the first
    session.
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
