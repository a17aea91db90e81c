"""`preheat experiment status`: what is left to chance now, and in a few lines what is known."""

import click

from preheat.cli.options import Examples, json_option
from preheat.settings import data_folder


@click.command(
    cls=Examples,
    epilog="""\
  preheat experiment status
  preheat experiment status --json""",
)
@json_option
def command(as_json: bool) -> int:
    """Say what is left to chance now, and what is known so far."""
    from preheat.app import stages as pipeline
    from preheat.app.assignment import left_to_chance
    from preheat.app.experiments import report, running
    from preheat.cli.experiment_cards import show_short, whole
    from preheat.cli.screen import console, hint, print_json, say

    folder = data_folder()
    sentence = left_to_chance(folder)
    names = [plan.name for _, plan in running(folder)] or [""]
    found = [report(folder, name) for name in names] if pipeline.has_archive(folder) else []
    if as_json:
        print_json(whole({"told": sentence, "reports": found}))
        return 0
    screen = console()
    say(screen, sentence)
    for each in found:
        show_short(screen, each)
    if not found:
        hint("There is no archive yet; `preheat sync` makes one.")
    else:
        hint(
            "`preheat experiment report` shows the numbers; `preheat experiment power` says how many sessions it takes."
        )
    return 0
