"""The command `preheat report cost`: time, tokens and money by day, project, model, agent or session. Adds nothing up itself."""

from typing import Any

import click

from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.home import open_analysed_archive
from preheat.cli.options import filter_options, make_filter
from preheat.cli.screen import console, hint, plain_table, print_json, print_table, say
from preheat.cli.text import count, duration, printable, tokens
from preheat.model.cost import COST_GROUPINGS, Cost, CostGrouping, Costs

_LIMIT = 15
_WIDE = 90
"""Columns of a terminal from which on the kinds of tokens and the number of sessions are shown."""

_LEAST_MONEY = 0.005


@click.command(
    "cost",
    cls=ExampleCommand,
    epilog="""\
  preheat report cost                            every day, the newest first
  preheat report cost --by project --since 30d   the last month by project
  preheat report cost --by session --project .   the dearest sessions here
  preheat report cost --by model --json | jq .total

Money is what the tokens cost at list prices; a subscription costs what it costs. Each response counts once, subagents'
too, also where a resumed session repeats it. `failed` is the part of the money that failed calls took, `repeated` that of
calls that worked and had been made before with the same arguments. `work` is the time from response to response, without
pauses of over five minutes.""",
)
@filter_options
@click.option(
    "--by", type=click.Choice(COST_GROUPINGS), default="day", show_default=True, help="What to add up by."
)  # fmt: skip
@click.option(
    "--limit", type=click.IntRange(1), default=_LIMIT, show_default=True, metavar="N", help="At most this many rows."
)
@click.option("--all", "everything", is_flag=True, help="All rows.")
@json_option
def cost_command(by: CostGrouping, limit: int, everything: bool, as_json: bool, **options: Any) -> int:
    """Show what sessions cost: tokens and money by day, project, model, agent or session."""
    home = open_analysed_archive()
    found = home.costs(make_filter(options), by)
    if as_json:
        print_json(found)
        return 0
    shown = found.costs if everything else found.costs[:limit]
    names = {each.name: each.name for each in shown}
    if by == "session":
        names |= home.archive.short_names(list(names))
    _show_costs(found, shown, names)
    return 0


def _show_costs(found: Costs, shown: tuple[Cost, ...], names: dict[str, str]) -> None:
    screen = console()
    if not found.costs:
        say(screen, "No tokens are recorded in these sessions.")
        hint("`preheat sessions list` shows what is there; not every agent records its tokens.")
        return
    wide = screen.width >= _WIDE
    table = plain_table()
    table.add_column(found.by)
    kinds = ("input", "output", "cached") if wide else ("tokens",)
    for title in (*(("sessions",) if wide else ()), "work", *kinds, "money", "failed", "repeated"):
        table.add_column(title, justify="right", no_wrap=True)
    for each in shown:
        table.add_row(printable(names[each.name]), *_cells(each, wide))
    if len(found.costs) > 1:
        table.add_row("total", *_cells(found.total, wide), style="bold")
    print_table(screen, table)
    if len(shown) < len(found.costs):
        say(screen, f"{count(len(found.costs) - len(shown), 'more row')}; --all shows them.", "dim")
    if found.unpriced_models:
        models = ", ".join(f"`{printable(model)}`" for model in found.unpriced_models[:5])
        rest = f" and {len(found.unpriced_models) - 5} more" if len(found.unpriced_models) > 5 else ""
        say(
            screen,
            f"Without a known price, and not in the money: {tokens(found.total.unpriced)} tokens of {models}{rest}.",
        )
    say(screen, f"List prices of {found.price_list}.", "dim")


def _cells(cost: Cost, wide: bool) -> list[str]:
    usage = cost.usage
    kinds = [usage.input, usage.output, usage.cache_read + usage.cache_write] if wide else [usage.total]
    money = "-" if cost.unpriced and not cost.money else f"${cost.money:,.2f}"
    parts = [_describe_part(part) for part in (cost.failed_money, cost.repeated_money)]
    sessions = [f"{cost.sessions:,}"] if wide else []
    return [*sessions, _describe_work(cost.seconds), *map(tokens, kinds), money, *parts]


def _describe_part(money: float) -> str:
    if not money:
        return ""
    return f"${money:,.2f}" if money >= _LEAST_MONEY else "<$0.01"


def _describe_work(seconds: float) -> str:
    """In one unit, so that the column is narrow."""
    if seconds < 60:
        return duration(seconds) if seconds else ""
    return f"{seconds / 60:.0f} min" if seconds < 3600 else f"{seconds / 3600:,.1f} h"
