"""`preheat compress-check`: whether agents work as well after a compaction as before it.

The comparison is made by `preheat.profiles.compaction`.
"""

import sys
from typing import Any

import click

from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.home import open_archive
from preheat.cli.options import SessionName, filter_options, make_filter
from preheat.cli.progress import Display
from preheat.cli.screen import hint, print_json
from preheat.cli.text import count, printable

_LIMIT = 10


@click.command(
    "compress-check",
    cls=ExampleCommand,
    epilog="""\
  preheat compress-check                      every compaction in the archive
  preheat compress-check latest               one session
  preheat compress-check --agent NAME --since 30d
  preheat compress-check --margin 0.5         half as many errors again still counts as preserved

Compares the last 30 calls before a compaction with the first 30 after it, because work changes as a session goes on.
Preserved: with 95 % confidence, the rate after is at most 1.2 times the rate before (`--margin 0.2`). Not preserved: with the
same confidence it is more. Anything else is too little data, and the command says roughly how much would be enough.""",
)
@click.argument("session", type=SessionName(), required=False)
@filter_options
@click.option(
    "--margin", type=click.FloatRange(0.0, 10.0, min_open=True), default=0.2, show_default=True, metavar="X",
    help="An error rate up to this much higher counts as preserved.",
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
    help="How many compactions to list.",
)
@json_option
def compress_check_command(
    session: str | None, margin: float, size: int, limit: int, as_json: bool, **options: Any
) -> int:
    """Say whether agents work as well after a compaction as before.

    Without SESSION, over all sessions that match the filters.
    """
    filters = [name for name, value in options.items() if value]
    if session is not None and filters:
        raise click.UsageError(f"name a session or filter them, not both (`--{filters[0].replace('_', '-')}`)")
    home = open_archive()
    with Display() as progress:
        found = home.reliability.check_compactions(
            make_filter(options) if session is None else session, margin, size, progress
        )
    for problem in found.unreadable[:3]:
        print(f"preheat: left out: {printable(problem)}", file=sys.stderr)
    checked = found.check
    if as_json:
        print_json(checked)
        return 0
    if not checked.boundaries:
        which = f"`{session}` has" if session else "These sessions have"
        hint(f"{which} no compaction, so there is nothing to compare.")
        return 0
    from preheat.cli.comparing import VERDICT_ORDER, show_compaction_check  # noqa: PLC0415 - rich takes longer than a completion

    shown = sorted(checked.boundaries, key=lambda each: VERDICT_ORDER[each.verdict])[:limit]
    keys = [key for each in shown for key in (each.session, each.child) if key]
    show_compaction_check(checked, shown, home.archive.short_names(keys))
    if len(shown) < len(checked.boundaries):
        hint(f"{len(shown):,} of {count(len(checked.boundaries), 'compaction')} listed; --limit lists more.")
    return 0
