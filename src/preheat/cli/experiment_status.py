"""`preheat experiment status`: what is left to chance now, and in a few lines what is known."""

import click

from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.experiment_cards import show_report_summary, with_all_fields
from preheat.cli.home import open_preheat
from preheat.cli.screen import console, hint, print_json, say


@click.command(
    "status",
    cls=ExampleCommand,
    epilog="""\
  preheat experiment status
  preheat experiment status --json""",
)
@json_option
def status_command(as_json: bool) -> int:
    """Show what is being assigned at random now, and what is known so far."""
    found = open_preheat().experiments.status()
    if as_json:
        print_json(with_all_fields({"summary": found.sentence, "reports": found.reports}))
        return 0
    screen = console()
    say(screen, found.sentence)
    for each in found.reports:
        show_report_summary(screen, each)
    if not found.reports:
        hint("There is no archive yet; `preheat sync` makes one.")
    else:
        hint(
            "`preheat experiment report` shows the numbers; `preheat experiment power` says how many sessions are needed."
        )
    return 0
