"""The commands `preheat experiment ledger` and `preheat sessions rate`: results of finished experiments, and ratings of sessions.

Knows no formula.
"""

import click

from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.experiment_screen import with_all_fields
from preheat.cli.home import open_archive, open_preheat
from preheat.cli.options import SessionName
from preheat.cli.screen import clean, console, hint, print_json, say
from preheat.cli.text import count, date_time, day, one_line
from preheat.model.experiment import LedgerEntry


@click.command(
    "ledger",
    cls=ExampleCommand,
    epilog="""\
  preheat experiment ledger
  preheat experiment ledger --json | jq '.entries[] | select(.verdict == "no difference")'

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
        hint(_explain_empty_ledger(found.unfinished))
    return 1 if found.changed_lines else 0


def _explain_empty_ledger(unfinished: dict[str, int]) -> str:
    """Why nothing is recorded yet, by the sessions that comparisons have assigned so far."""
    if not unfinished:
        return "Nothing yet. `preheat experiment start NAME` begins an experiment; `preheat experiment stop` records it here."
    running = ", ".join(f"`{name}` ({count(number, 'session')} assigned)" for name, number in unfinished.items())
    return (
        f"Nothing yet: a result is recorded when an experiment is stopped, and {running} still runs; "
        "`preheat experiment report` shows it so far. The holdout runs for good and is recorded only where it withdraws a lesson."
    )


def _heading(entry: LedgerEntry) -> str:
    if entry.kind != "experiment":
        return f"{entry.name}: {entry.kind}"
    arms = ", ".join(f"{number:,} {arm}" for arm, number in entry.sessions.items())
    return f"{entry.name}: {entry.verdict} ({arms or 'no sessions'})"


# `preheat sessions rate`
@click.command(
    "rate",
    cls=ExampleCommand,
    epilog="""\
  preheat sessions rate good                            the newest session
  preheat sessions rate bad 3fa2 --note "it never ran the tests"
  preheat experiment report --json | jq '.secondary[] | select(.metric == "rating")'

Rate a session again to change your mind: the last rating counts.""",
)
@click.argument("verdict", type=click.Choice(["good", "bad"]))
@click.argument("session", type=SessionName(), default="latest")
@click.option("--note", default="", metavar="TEXT", help="Why; stored with the rating, on this machine.")
@json_option
def rate_command(verdict: str, session: str, note: str, as_json: bool) -> int:
    """Rate a session as good or bad.

    Ratings are compared between the arms of experiments like other metrics; they change nothing else.
    """

    found = open_archive().experiments.rate(session, verdict == "good", note)
    if found.shortened:
        hint(f"The note is too long; the first {len(found.rating.note):,} characters are kept.")
    if as_json:
        print_json(with_all_fields(found.rating))
        return 0
    one = found.session
    print(f"{verdict}: {one_line(one.title or one.opening, 60)} ({date_time(one.started_at)}, {one.key})")
    return 0
