"""`preheat experiment stop`: ends an experiment and enters what it showed into the ledger."""

import click

from preheat.cli.command import Examples, json_option
from preheat.cli.experiment_cards import show_report, whole
from preheat.cli.home import home
from preheat.cli.screen import hint, print_json


@click.command(
    "stop",
    cls=Examples,
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
    found = home().experiments.stop(name)
    if as_json:
        print_json(whole(found.entry))
        return 0
    show_report(found.report)
    hint(f"`{found.report.name}` is stopped and recorded in the ledger; `preheat ledger` shows it.")
    return 0
