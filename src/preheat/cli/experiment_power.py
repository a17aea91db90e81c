"""`preheat experiment power`: how many sessions a comparison needs, from the person's own sessions."""

from math import ceil

import click

from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.experiment_cards import format_metric
from preheat.cli.home import open_preheat
from preheat.cli.options import RenamedChoice
from preheat.cli.screen import clean, console, hint, print_json, say
from preheat.cli.text import columns, count
from preheat.model.experiment import EARLIER_METRICS, METRICS, MetricName


@click.command(
    "power",
    cls=ExampleCommand,
    epilog="""\
  preheat experiment power                          to detect one mistake fewer in a hundred calls
  preheat experiment power --margin 0.02 --cold 0.5
  preheat experiment power --metric success --margin 0.15

The archive's sessions are resampled by project many times; one arm is shifted by the difference, and the two are tested as
the experiment will be.""",
)
@click.option(
    "--metric",
    type=RenamedChoice(METRICS, EARLIER_METRICS),
    default=METRICS[0],
    show_default=True,
    help="What decides.",
)
@click.option("--margin", type=float, metavar="X", help="The difference to detect.  [default: by metric]")
@click.option("--cold", "share", type=float, metavar="X", help="The share that starts cold.  [default: the holdout's]")
@click.option(
    "--power",
    "wanted",
    type=float,
    default=0.8,
    show_default=True,
    metavar="X",
    help="The probability of detecting it.",
)
@json_option
def power_command(metric: MetricName, margin: float | None, share: float | None, wanted: float, as_json: bool) -> int:
    """Say how many sessions a comparison needs, from your own sessions."""
    found = open_preheat().experiments.sample_size(metric, margin, share, wanted)
    plan, margin = found.plan, found.margin
    if as_json:
        print_json({"plan": plan, "worse": found.is_loss, "a_week": found.sessions_per_week, "weeks": found.weeks})
        return 0
    screen = console()
    weeks = (
        ""
        if found.weeks is None
        else f", about {count(ceil(found.weeks), 'week')} at {found.sessions_per_week:,.0f} a week"
    )
    say(
        screen,
        f"About {plan.sessions:,} sessions ({plan.arms[0]:,} warm, {plan.arms[1]:,} cold{weeks}) show a difference of"
        f" {format_metric(metric, margin)} in {metric} with {wanted:.0%} probability.",
        "bold",
    )
    say(screen, f"It is {format_metric(metric, plan.base)} now, over {plan.sampled_from[0]:,} sessions.")
    if found.is_loss:
        say(
            screen,
            f"It cannot improve by {format_metric(metric, margin)}, so the plan is to detect that it gets worse.",
        )
    rows = [["  sessions", "detected"], *([f"  {sessions:,}", f"{detected:.0%}"] for sessions, detected in plan.curve)]
    for line in columns(rows, left=1):
        say(screen, line, "dim")
    for remark in plan.remarks:
        say(screen, f"  {clean(remark)}", "dim")
    hint(f"With that many, the interval that may be looked at any day is {found.interval_factor:.1f} times as wide.")
    return 0
