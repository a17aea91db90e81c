"""`preheat ledger`: every experiment that ended and every item that was withdrawn, whatever came of it."""

import click

from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.experiment_cards import with_all_fields
from preheat.cli.home import open_preheat
from preheat.cli.screen import clean, console, hint, print_json, say
from preheat.cli.text import day
from preheat.model.experiment import LedgerEntry


@click.command(
    "ledger",
    cls=ExampleCommand,
    epilog="""\
  preheat ledger
  preheat ledger --json | jq '.entries[] | select(.verdict == "no difference")'

The ledger only grows, and is kept outside the archive. Each line has the digest of the line before, so that a changed or
removed line is noticed; then the exit code is 1.""",
)
@json_option
def ledger_command(as_json: bool) -> int:
    """Show every finished experiment and its result, null results included."""
    found = open_preheat().experiments.ledger()
    if as_json:
        print_json(with_all_fields(found))
        return 1 if found.changed_lines else 0
    screen = console()
    for each in found.entries:
        say(screen, f"{day(each.at)}  {_heading(each)}", "bold")
        say(screen, f"  {clean(each.sentence)}")
        if each.text:
            say(screen, f"  {clean(each.text)}", "dim")
        for problem in each.problems:
            say(screen, f"  ! {clean(problem)}", "yellow")
    for number in found.changed_lines:
        say(screen, f"! line {number} of the ledger was changed, or one before it was removed", "red")
    if not found.entries:
        hint(
            "Nothing yet. `preheat experiment start NAME` begins an experiment; `preheat experiment stop` records it here."
        )
    return 1 if found.changed_lines else 0


def _heading(entry: LedgerEntry) -> str:
    if entry.kind != "experiment":
        return f"{entry.name}: {entry.kind}"
    arms = ", ".join(f"{number:,} {arm}" for arm, number in entry.sessions.items())
    return f"{entry.name}: {entry.verdict} ({arms or 'no sessions'})"
