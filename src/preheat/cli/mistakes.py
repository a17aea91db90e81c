"""`preheat mistakes`: what goes wrong again and again, what it costs, and what puts it right.

The mistakes are found by `preheat.mistakes.recurring`.
"""

from typing import Any

import click
from msgspec.structs import replace

from preheat.cli.home import analysed
from preheat.cli.options import Examples, RenamedChoice, chosen, filter_options, json_option
from preheat.cli.screen import print_json
from preheat.errors import NotFound
from preheat.model.mistake import COSTS, CostBy, Mistake, Mistakes
from preheat.model.outcome import CAUSES, EARLIER_CAUSES, Cause

_LIMIT = 10


@click.command(
    cls=Examples,
    epilog="""\
  preheat mistakes                             the dearest ten
  preheat mistakes --project . --since 30d     of this project, the last month
  preheat mistakes --by minutes                by time lost
  preheat mistakes 3                           every occurrence of the third
  preheat mistakes mb41c2a --json              one by its id, for programs

A mistake is a failure with the same message (numbers, paths, hashes and quotes left out) of the same kind of tool in
several sessions. Failing tests and other findings are work, not mistakes; `--cause finding` shows them. Ranked by failed
calls because every agent records those; not every one records times and tokens.""",
)
@click.argument("which", required=False, metavar="[N|ID]")
@filter_options
@click.option(
    "--cause", "causes", type=RenamedChoice(CAUSES, EARLIER_CAUSES), multiple=True,
    help="Only of this cause (repeatable); mistake and environment unless given.",
)  # fmt: skip
@click.option("--by", type=click.Choice(COSTS), default="calls", show_default=True, help="What to rank by.")
@click.option(
    "--min-sessions",
    type=click.IntRange(1),
    default=2,
    show_default=True,
    metavar="N",
    help="Seen in so many sessions.",
)
@click.option(
    "--limit", type=click.IntRange(1), default=_LIMIT, show_default=True, metavar="N", help="So many at most."
)
@click.option("--all", "everything", is_flag=True, help="All of them.")
@json_option
def command(
    which: str | None,
    causes: tuple[Cause, ...],
    by: CostBy,
    min_sessions: int,
    limit: int,
    everything: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """Show the mistakes that sessions repeat, what they cost, and what fixes them.

    With N or ID, shows every occurrence of one.
    """
    home = analysed()
    found = home.reliability.as_analysed().mistakes(chosen(options), causes, by, min_sessions)
    if which is not None:
        one = _one(found, which)
        if as_json:
            print_json(one)
        else:
            from preheat.cli.mistake_cards import show_one  # noqa: PLC0415 - rich takes longer than a completion

            show_one(one, home.archive.short_names(one.sessions))
        return 0
    shown = found.mistakes if everything else found.mistakes[:limit]
    if as_json:
        print_json(replace(found, mistakes=shown))
        return 0
    from preheat.cli.mistake_cards import SHOWN_SESSIONS, show_mistakes  # noqa: PLC0415 - rich takes longer than a completion

    evidence = [session for each in shown for session in each.sessions[:SHOWN_SESSIONS]]
    show_mistakes(found, shown, home.archive.short_names(evidence))
    return 0


def _one(found: Mistakes, which: str) -> Mistake:
    if which.isdigit():
        number = int(which)
        if 1 <= number <= len(found.mistakes):
            return found.mistakes[number - 1]
        raise NotFound(f"there is no mistake {which}; `preheat mistakes --all` lists {len(found.mistakes):,}")
    alike = [each for each in found.mistakes if each.id.startswith(which)]
    if len(alike) == 1:
        return alike[0]
    raise NotFound(f"no mistake `{which}` among these sessions; `preheat mistakes --all` lists them with their ids")
