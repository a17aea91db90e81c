"""`preheat experiment explain`: what one item, a template, or advice did to the sessions that were given or spared it."""

import click
import msgspec

from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.home import open_archive
from preheat.cli.screen import clean, console, hint, print_json, say
from preheat.cli.text import count
from preheat.model.experiment import LedgerEntry
from preheat.model.experiment_report import AdviceEffect, LessonEffect, LessonUtility, TemplateEffect


@click.command(
    "explain",
    cls=ExampleCommand,
    epilog="""\
  preheat experiment explain r1f3a2b4c          a lesson, by its id
  preheat experiment explain mine               a template
  preheat experiment explain advice             what advice does to the next calls
  preheat experiment explain all                every lesson that was withheld from some sessions""",
)
@click.argument("item", default="all", metavar="[LESSON|TEMPLATE|advice|all]")
@json_option
def explain_command(item: str, as_json: bool) -> int:
    """Show what a lesson, a template or advice did for the sessions that got it.

    In warm sessions each lesson is withheld at random from one in ten. With few sessions its estimated effect is pulled towards
    that of the other lessons.
    """
    experiments = open_archive().experiments
    if item == "advice":
        advice = experiments.explain_advice()
        if as_json:
            print_json(advice)
        else:
            _show_advice(advice)
        return 0
    templates = experiments.explain_templates(item) if item != "all" else []
    if templates:
        if as_json:
            print_json([_template_json(each) for each in templates])
        else:
            _show_templates(templates)
        return 0
    items = experiments.explain_items("" if item == "all" else item)
    if as_json:
        print_json([_item_json(each) for each in items])
    else:
        _show_items(items)
    return 0


# Templates.
def _show_templates(found: list[TemplateEffect]) -> None:
    screen = console()
    for each in found:
        estimate = each.estimate
        say(screen, f"template {clean(each.template)}", "bold")
        if estimate.difference is None or estimate.always_low is None or estimate.always_high is None:
            say(screen, f"  Too little data: {clean(estimate.why or ' '.join(estimate.remarks))}.")
        else:
            ends = f"{100 * estimate.always_low:+.2f} to {100 * estimate.always_high:+.2f}"
            say(screen, f"  {100 * estimate.difference:+.2f} mistakes per 100 calls (95 %, at any look, {ends})")
        say(
            screen,
            f"  {count(estimate.units[0], 'session')} began with it, {estimate.units[1]:,} at random without it",
            "dim",
        )
        if each.entry is not None:
            say(screen, f"  {each.entry.kind}: {clean(each.entry.sentence)}", "yellow")


def _template_json(each: TemplateEffect) -> dict[str, object]:
    return {"template": each.template, "estimate": each.estimate, "ledger": _ledger_sentence(each.entry)}


def _ledger_sentence(entry: LedgerEntry | None) -> str:
    return "" if entry is None else entry.sentence


# Advice.
def _show_advice(found: AdviceEffect) -> None:
    screen = console()
    estimate = found.estimate
    if estimate.difference is None or estimate.low is None or estimate.high is None:
        say(screen, f"Too little data: {clean(estimate.why)}.", "bold")
    else:
        verdict = "helps" if estimate.high < 0 else "hurts" if estimate.low > 0 else "shows no difference yet"
        say(
            screen,
            f"Advice {verdict}: {100 * estimate.difference:+.1f} mistakes per 100 of the next {found.next_calls} calls (95 %"
            f" {100 * estimate.low:+.1f} to {100 * estimate.high:+.1f}).",
            "bold",
        )
    say(
        screen,
        f"  given {count(estimate.units[0], 'time')}, withheld at random {count(estimate.units[1], 'time')},"
        f" in {count(estimate.clusters, 'session')}",
    )
    without = found.moments_without_calls_after
    if without:
        say(screen, f"  not counted, because the archive has no call after it: {count(without, 'moment')}", "dim")
    for remark in estimate.remarks:
        say(screen, f"  {clean(remark)}", "dim")


# Items.
def _show_items(found: list[LessonEffect]) -> None:
    from preheat.app.experiments.comparisons import ITEM_MARGIN  # noqa: PLC0415 - comparisons take longer to load than a completion

    screen = console()
    for each in sorted(found, key=lambda one: _sort_key(one.utility)):
        utility = each.utility
        say(screen, f"{utility.item}  {clean(each.text or '(no longer learned)')}", "bold")
        say(screen, f"  {_sentence(utility)}")
        say(screen, f"  given in {count(utility.shown, 'session')}, withheld at random in {utility.withheld:,}", "dim")
        if each.entry is not None:
            say(screen, f"  {each.entry.kind}: {clean(each.entry.sentence)}", "yellow")
    if not found:
        hint("No lesson was withheld at random yet: that begins with the first warm session after `preheat install`.")
    else:
        hint(
            f"A lesson pays if it avoids more than {100 * ITEM_MARGIN:.1f} mistakes per 100 calls; one that does not is withdrawn."
        )


def _sort_key(each: LessonUtility) -> tuple[bool, float, str]:
    return each.effect is None, each.effect or 0.0, each.item


def _sentence(each: LessonUtility) -> str:
    if each.effect is None or each.low is None or each.high is None or each.raw is None:
        return "Too little data: it takes ten sessions with it and ten without."
    return (
        f"{each.verdict.capitalize()}: {100 * each.effect:+.2f} mistakes per 100 calls (95 % {100 * each.low:+.2f} to"
        f" {100 * each.high:+.2f}; unadjusted {100 * each.raw:+.2f})."
    )


def _item_json(each: LessonEffect) -> dict[str, object]:
    return {**msgspec.to_builtins(each.utility), "text": each.text, "ledger": _ledger_sentence(each.entry)}
