"""`preheat experiment stop`: ends an experiment and enters what it showed into the ledger."""

import click

from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.experiment_cards import show_report, with_all_fields
from preheat.cli.home import open_preheat
from preheat.cli.screen import hint, print_json


@click.command(
    "stop",
    cls=ExampleCommand,
    epilog="""\
  preheat experiment stop                       the running one
  preheat experiment stop mine --json""",
)
@click.argument("name", default="")
@json_option
def stop_command(name: str, as_json: bool) -> int:
    """End an experiment, and record its result in the ledger.

    A result is recorded whatever it is, also a null result. The holdout is in effect again.
    """
    found = open_preheat().experiments.stop(name)
    if as_json:
        print_json(with_all_fields(found.entry))
        return 0
    show_report(found.report)
    hint(f"`{found.report.name}` is stopped and recorded in the ledger; `preheat ledger` shows it.")
    return 0
