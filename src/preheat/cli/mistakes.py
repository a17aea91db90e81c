"""The command `preheat mistakes`: mistakes that sessions repeat, what they cost, and what fixes them.

Knows nothing of how mistakes are found.
"""

from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from preheat.app.lazy import LazyModule
from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.home import open_analysed_archive
from preheat.cli.options import RenamedChoice, filter_options, make_filter
from preheat.cli.screen import print_json
from preheat.errors import NotFound
from preheat.model.mistake import MISTAKE_COSTS, Mistake, MistakeCost, Mistakes
from preheat.model.outcome import CAUSES, EARLIER_CAUSES, Cause

if TYPE_CHECKING:
    from preheat.cli import mistake_screen as _screen
else:  # rich takes longer than a completion
    _screen = LazyModule("preheat.cli.mistake_screen")

_LIMIT = 10


@click.command(
    "mistakes",
    cls=ExampleCommand,
    epilog="""\
  preheat mistakes                             the ten most costly
  preheat mistakes --project . --since 30d     of this project, the last month
  preheat mistakes --by minutes                by time lost
  preheat mistakes 3                           every occurrence of the third
  preheat mistakes mb41c2a --json              one by its id, for programs

A mistake is a failure with the same message (numbers, paths, hashes and quotes left out) of the same kind of tool in
several sessions. Failing tests and other findings are work, not mistakes; `--cause finding` shows them, and `--cause
unknown` failures that nothing explains. Ranked by failed calls, because every agent records those; not every agent
records times and tokens.""",
)
@click.argument("which", required=False, metavar="[N|ID]")
@filter_options
@click.option(
    "--cause", "causes", type=RenamedChoice(CAUSES, EARLIER_CAUSES), multiple=True,
    help="Only of this cause (repeatable).  [default: mistake and environment]",
)  # fmt: skip
@click.option("--by", type=click.Choice(MISTAKE_COSTS), default="calls", show_default=True, help="What to rank by.")
@click.option(
    "--min-sessions",
    type=click.IntRange(1),
    default=2,
    show_default=True,
    metavar="N",
    help="Seen in at least this many sessions.",
)
@click.option(
    "--limit", type=click.IntRange(1), default=_LIMIT, show_default=True, metavar="N", help="At most this many."
)
@click.option("--all", "everything", is_flag=True, help="All of them.")
@json_option
def mistakes_command(
    which: str | None,
    causes: tuple[Cause, ...],
    by: MistakeCost,
    min_sessions: int,
    limit: int,
    everything: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """Show the mistakes that sessions repeat, what they cost, and what fixes them.

    With N or ID, shows every occurrence of one.
    """
    home = open_analysed_archive()
    found = home.reliability.without_analysing().mistakes(make_filter(options), causes, by, min_sessions)
    if which is not None:
        one = _find(found, which)
        if as_json:
            print_json(one)
        else:
            _screen.show_mistake(one, home.archive.short_names(one.sessions))
        return 0
    shown = found.mistakes if everything else found.mistakes[:limit]
    if as_json:
        print_json(replace(found, mistakes=shown))
        return 0
    evidence = [session for each in shown for session in each.sessions[: _screen.SESSIONS_PER_CARD]]
    _screen.show_mistakes(found, shown, home.archive.short_names(evidence))
    return 0


def _find(found: Mistakes, which: str) -> Mistake:
    if which.isdigit():
        number = int(which)
        if 1 <= number <= len(found.mistakes):
            return found.mistakes[number - 1]
        raise NotFound(f"there is no mistake {which}; `preheat mistakes --all` lists {len(found.mistakes):,}")
    matches = [each for each in found.mistakes if each.id.startswith(which)]
    if len(matches) == 1:
        return matches[0]
    raise NotFound(f"no mistake `{which}` among these sessions; `preheat mistakes --all` lists them with their ids")
