"""`preheat experiment stop`: ends an experiment and enters what it showed into the ledger."""

import click

from preheat.cli.options import Examples, json_option
from preheat.settings import data_folder


@click.command(
    cls=Examples,
    epilog="""\
  preheat experiment stop                       the one that runs
  preheat experiment stop mine --json""",
)
@click.argument("name", default="")
@json_option
def command(name: str, as_json: bool) -> int:
    """End an experiment, and enter what it showed into the ledger.

    Nulls and failures are entered like everything else. The standing holdout takes its place again.
    """
    from preheat.app.experiments import end
    from preheat.cli.experiment_cards import show_report, whole
    from preheat.cli.screen import hint, print_json

    found, entry = end(data_folder(), name)
    if as_json:
        print_json(whole(entry))
        return 0
    show_report(found)
    hint(f"`{found.name}` is stopped and stands in the ledger; `preheat ledger` shows it.")
    return 0
