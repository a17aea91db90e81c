"""`preheat rate`: says of a session that it was good or bad, for whoever compares sessions later."""

import click

from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.experiment_cards import with_all_fields
from preheat.cli.home import open_archive
from preheat.cli.options import SessionName
from preheat.cli.screen import hint, print_json
from preheat.cli.text import date_time, one_line


@click.command(
    "rate",
    cls=ExampleCommand,
    epilog="""\
  preheat rate good                            the newest session
  preheat rate bad 3fa2 --note "it never ran the tests"
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
