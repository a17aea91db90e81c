"""`preheat experiment power`: how many sessions a comparison needs, from the person's own sessions."""

from math import ceil

import click

from preheat.cli.experiment_cards import number
from preheat.cli.home import home
from preheat.cli.options import Examples, RenamedChoice, json_option
from preheat.cli.screen import clean, console, hint, print_json, say
from preheat.cli.text import columns, count
from preheat.model.experiment import EARLIER_METRICS, METRICS, MetricName


@click.command(
    cls=Examples,
    epilog="""\
  preheat experiment power                          to see one mistake fewer in a hundred calls
  preheat experiment power --margin 0.02 --cold 0.5
  preheat experiment power --metric success --margin 0.15

Sessions of the archive are drawn again and again, with their projects, moved by the difference in one arm, and tested as the
trial will be.""",
)
@click.option(
    "--metric",
    type=RenamedChoice(METRICS, EARLIER_METRICS),
    default="mistakes",
    show_default=True,
    help="What decides.",
)
@click.option("--margin", type=float, metavar="X", help="The difference to be seen.  [default: by metric]")
@click.option("--cold", "share", type=float, metavar="X", help="The share that starts without.  [default: the holdout]")
@click.option("--power", "wanted", type=float, default=0.8, show_default=True, metavar="X", help="How surely.")
@json_option
def command(metric: MetricName, margin: float | None, share: float | None, wanted: float, as_json: bool) -> int:
    """Say how many sessions a comparison needs, from your own sessions."""
    found = home().experiments.power(metric, margin, share, wanted)
    plan, margin = found.plan, found.margin
    if as_json:
        print_json({"plan": plan, "worse": found.worse, "a_week": found.a_week, "weeks": found.weeks})
        return 0
    screen = console()
    weeks = "" if found.weeks is None else f", about {count(ceil(found.weeks), 'week')} at {found.a_week:,.0f} a week"
    say(
        screen,
        f"About {plan.sessions:,} sessions ({plan.arms[0]:,} warm, {plan.arms[1]:,} cold{weeks}) show a difference of"
        f" {number(metric, margin)} in {metric} with {wanted:.0%} certainty.",
        "bold",
    )
    say(screen, f"It is {number(metric, plan.base)} now, over {plan.drawn_from[0]:,} sessions.")
    if found.worse:
        say(screen, f"It has no room to get better by {number(metric, margin)}, so the plan is to see it get worse.")
    rows = [["  sessions", "seen"], *([f"  {sessions:,}", f"{seen:.0%}"] for sessions, seen in plan.curve)]
    for line in columns(rows, left=1):
        say(screen, line, "dim")
    for remark in plan.named:
        say(screen, f"  {clean(remark)}", "dim")
    hint(f"With so many, the interval that may be looked at every day is {found.wider:.1f} times as wide.")
    return 0
