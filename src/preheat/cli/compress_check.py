"""`preheat compress-check`: whether agents work as well after a compaction as before it.

The comparison is made by `preheat.profiles.compaction`.
"""

import sys
from typing import TYPE_CHECKING, Any

import click

from preheat.cli.options import Examples, SessionName, archive, chosen, filter_options, json_option
from preheat.cli.progress import Display
from preheat.cli.text import count, printable

if TYPE_CHECKING:
    import sqlite3

    from preheat.profiles.compaction import Crossing

_LIMIT = 10


@click.command(
    cls=Examples,
    epilog="""\
  preheat compress-check                      every compaction in the archive
  preheat compress-check latest               one session
  preheat compress-check --agent NAME --since 30d
  preheat compress-check --margin 0.5         half as many errors again still count as preserved

Compares the last 30 calls before a compaction with the first 30 after it, because work changes as a session goes on.
Preserved: with 95 % confidence, the rate after is at most 1.2 times the rate before (`--margin 0.2`). Not preserved: with the
same confidence it is more. Anything else is too little data, and the command says roughly how much would do.""",
)
@click.argument("session", type=SessionName(), required=False)
@filter_options
@click.option(
    "--margin", type=click.FloatRange(0.0, 10.0, min_open=True), default=0.2, show_default=True, metavar="X",
    help="How much more, relatively, counts as preserved.",
)  # fmt: skip
@click.option(
    "--window", "size", type=click.IntRange(1), default=30, show_default=True, metavar="N", help="Calls on each side."
)
@click.option(
    "--limit",
    type=click.IntRange(1),
    default=_LIMIT,
    show_default=True,
    metavar="N",
    help="So many compactions listed.",
)
@json_option
def command(session: str | None, margin: float, size: int, limit: int, as_json: bool, **options: Any) -> int:
    """Say whether agents work as well after a compaction as before.

    Without SESSION, over all sessions that the filters leave.
    """
    from preheat.cli.screen import hint, print_json
    from preheat.profiles.compaction import check

    with archive() as connection:
        found, unreadable = _crossings(connection, session, size, options)
        for problem in unreadable[:3]:
            print(f"preheat: left out: {printable(problem)}", file=sys.stderr)
        checked = check(found, margin, size)
        if as_json:
            print_json(checked)
            return 0
        if not found:
            which = f"`{session}` has" if session else "these sessions have"
            hint(f"{which[0].upper() if not session else which[0]}{which[1:]} no compaction: nothing to compare.")
            return 0
        from preheat.archive.queries import find, short_names
        from preheat.cli.comparing import LISTED_FIRST, show_check

        shown = sorted(checked.boundaries, key=lambda each: LISTED_FIRST[each.verdict])[:limit]
        keys = dict.fromkeys(key for each in shown for key in (each.session, each.child) if key)
        names = short_names(connection, [find(connection, key) for key in keys])
    show_check(checked, shown, names)
    if len(shown) < len(checked.boundaries):
        hint(f"{len(shown):,} of {count(len(checked.boundaries), 'compaction')} listed; --limit lists more.")
    return 0


def _crossings(
    connection: "sqlite3.Connection", session: str | None, size: int, options: dict[str, Any]
) -> "tuple[list[Crossing], list[str]]":
    from preheat.app.compactions import Loading
    from preheat.archive.queries import find

    with Display() as progress:
        loading = Loading(connection, size, progress)
        if session is None:
            return list(loading.of_all(chosen(options))), loading.unreadable
    given = [name for name, value in options.items() if value]
    if given:
        raise click.UsageError(f"name a session or filter them, not both (`--{given[0].replace('_', '-')}`)")
    return loading.of_one(find(connection, session)), loading.unreadable
