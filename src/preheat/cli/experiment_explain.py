"""`preheat experiment explain`: what one item, or advice, did to the sessions that were given or spared it."""

from typing import TYPE_CHECKING

import click

from preheat.cli.options import Examples, archive, json_option
from preheat.cli.text import count
from preheat.settings import data_folder

if TYPE_CHECKING:
    import sqlite3

    from preheat.statistics.items import Utility


@click.command(
    cls=Examples,
    epilog="""\
  preheat experiment explain r1f3a2b4c          a lesson, by its id
  preheat experiment explain mine               a template
  preheat experiment explain advice             what saying something does to the next calls
  preheat experiment explain all                every item that lots were drawn for""",
)
@click.argument("item", default="all")
@json_option
def command(item: str, as_json: bool) -> int:
    """Show what an item did to the sessions that were given or spared it.

    Inside warm sessions each item is left out of one in ten by lot. Its effect is drawn towards that of the others as far as
    few sessions speak for it.
    """
    from preheat.app.trials import take_in

    with archive() as connection:
        take_in(data_folder(), connection)
        if item == "advice":
            return _advice(connection, as_json)
        if item != "all" and _templates(connection, item, as_json):
            return 0
        return _items(connection, item, as_json)


def _templates(connection: "sqlite3.Connection", wanted: str, as_json: bool) -> bool:
    """A template that was given to warm sessions and kept from cold ones; whether there is one of that name."""
    import time

    from preheat.app import trial_store as store
    from preheat.app.withdrawal import template_effects
    from preheat.cli.screen import clean, console, print_json, say
    from preheat.experiments.retire import standing

    every = template_effects(connection, time.time())
    found = {name: each for name, each in every.items() if name.partition("@")[0] == wanted or name.startswith(wanted)}
    if not found:
        return False
    last = standing(store.ledger(data_folder()))
    if as_json:
        entries = {name: entry.sentence for name, entry in last.items()}
        print_json(
            [{"template": name, "estimate": each, "ledger": entries.get(name, "")} for name, each in found.items()]
        )
        return True
    screen = console()
    for name, each in found.items():
        say(screen, f"template {clean(name)}", "bold")
        if each.difference is None or each.always_low is None or each.always_high is None:
            say(screen, f"  Too little data: {clean(each.why or ' '.join(each.named))}.")
        else:
            ends = f"{100 * each.always_low:+.2f} to {100 * each.always_high:+.2f}"
            say(screen, f"  {100 * each.difference:+.2f} mistakes per 100 calls (95 %, at every look, {ends})")
        say(screen, f"  {count(each.units[0], 'session')} began with it, {each.units[1]:,} without by lot", "dim")
        if name in last:
            say(screen, f"  {last[name].kind}: {clean(last[name].sentence)}", "yellow")
    return True


def _advice(connection: "sqlite3.Connection", as_json: bool) -> int:
    from preheat.app.experiments import NEXT, advice
    from preheat.cli.screen import clean, console, print_json, say

    found, untold = advice(connection)
    if as_json:
        print_json({"estimate": found, "next_calls": NEXT, "moments_without_calls_after": untold})
        return 0
    screen = console()
    if found.difference is None or found.low is None or found.high is None:
        say(screen, f"Too little data: {clean(found.why)}.", "bold")
    else:
        verdict = "helps" if found.high < 0 else "hurts" if found.low > 0 else "shows no difference yet"
        say(
            screen,
            f"Advice {verdict}: {100 * found.difference:+.1f} mistakes per 100 of the next {NEXT} calls (95 %"
            f" {100 * found.low:+.1f} to {100 * found.high:+.1f}).",
            "bold",
        )
    say(
        screen,
        f"  said {count(found.units[0], 'time')}, withheld by lot {count(found.units[1], 'time')},"
        f" in {count(found.clusters, 'session')}",
    )
    if untold:
        say(screen, f"  not counted, since the archive has no call after it: {count(untold, 'moment')}", "dim")
    for remark in found.named:
        say(screen, f"  {clean(remark)}", "dim")
    return 0


def _items(connection: "sqlite3.Connection", wanted: str, as_json: bool) -> int:
    from preheat.app import trial_store as store
    from preheat.app.withdrawal import utilities
    from preheat.archive.lessons import lessons
    from preheat.cli.screen import clean, console, hint, print_json, say
    from preheat.errors import NotFound
    from preheat.experiments.retire import PAYS, standing

    every = utilities(connection)
    found = [each for each in every if wanted == "all" or each.item.startswith(wanted)]
    texts = {each.id: each.text for each in lessons(connection)}
    last = standing(store.ledger(data_folder()))
    if wanted != "all" and not found:
        if any(name.startswith(wanted) for name in texts):
            raise NotFound(
                f"no lot was drawn for `{wanted}` yet: it was in no warm session's start since lots are drawn"
            )
        raise NotFound(f"no item `{wanted}`; `preheat experiment explain` shows those that lots were drawn for")
    if as_json:
        print_json([_told(each, texts, {name: entry.sentence for name, entry in last.items()}) for each in found])
        return 0
    screen = console()
    for each in sorted(found, key=lambda one: (one.effect is None, one.effect or 0.0, one.item)):
        say(screen, f"{each.item}  {clean(texts.get(each.item, '(not learned any more)'))}", "bold")
        say(screen, f"  {_sentence(each)}")
        say(screen, f"  shown in {count(each.shown, 'session')}, withheld by lot in {each.withheld:,}", "dim")
        if each.item in last:
            say(screen, f"  {last[each.item].kind}: {clean(last[each.item].sentence)}", "yellow")
    if not found:
        hint("No lot was drawn for any item yet: that begins with the first warm session after `preheat install`.")
    else:
        hint(
            f"An item pays if it spares more than {100 * PAYS:.1f} mistakes per 100 calls; what surely does not is withdrawn."
        )
    return 0


def _sentence(each: "Utility") -> str:
    if each.effect is None or each.low is None or each.high is None or each.raw is None:
        return "Too little data: ten sessions with it and ten without are the least."
    return (
        f"{each.verdict.capitalize()}: {100 * each.effect:+.2f} mistakes per 100 calls (95 % {100 * each.low:+.2f} to"
        f" {100 * each.high:+.2f}; by itself {100 * each.raw:+.2f})."
    )


def _told(each: "Utility", texts: dict[str, str], ledger: dict[str, str]) -> dict[str, object]:
    import msgspec

    return {**msgspec.to_builtins(each), "text": texts.get(each.item, ""), "ledger": ledger.get(each.item, "")}
