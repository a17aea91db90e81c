"""`preheat rate`: says of a session that it was good or bad, for whoever compares sessions later."""

import click

from preheat.cli.options import Examples, SessionName, archive, json_option
from preheat.settings import data_folder

_LONGEST = 2_000


@click.command(
    cls=Examples,
    epilog="""\
  preheat rate good                            the newest session
  preheat rate bad 3fa2 --note "it never ran the tests"
  preheat experiment report --json | jq '.secondary[] | select(.metric == "rating")'

Rate a session again to change your mind: the last word counts.""",
)
@click.argument("verdict", type=click.Choice(["good", "bad"]))
@click.argument("session", type=SessionName(), default="latest")
@click.option("--note", default="", metavar="TEXT", help="Why; kept with it, on this machine.")
@json_option
def command(verdict: str, session: str, note: str, as_json: bool) -> int:
    """Say of a session that it was good or bad.

    What you say counts in comparisons beside what is measured; it changes nothing else.
    """
    from preheat.app.experiments import rated
    from preheat.archive.queries import find
    from preheat.cli.experiment_cards import whole
    from preheat.cli.screen import hint, print_json
    from preheat.cli.text import moment, one_line
    from preheat.ingest.redact import redact

    with archive() as connection:
        one = find(connection, session)
    clean = redact(note.encode("utf-8", "replace"))[0].decode("utf-8", "replace")
    kept = clean[:_LONGEST]  # after redacting: half a secret is none that would be known
    if len(clean) > _LONGEST:
        hint(f"The note is longer than {_LONGEST:,} characters; the first {_LONGEST:,} are kept.")
    rating = rated(data_folder(), one.key, verdict == "good", kept)
    if as_json:
        print_json(whole(rating))
        return 0
    print(f"{verdict}: {one_line(one.title or one.opening, 60)} ({moment(one.started_at)}, {one.key})")
    return 0
