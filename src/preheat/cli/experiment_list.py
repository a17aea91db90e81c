"""`preheat experiment list`: the experiments, those that run and those that are over."""

import click

from preheat.cli.options import Examples, json_option
from preheat.settings import data_folder


@click.command(
    cls=Examples,
    epilog="""\
  preheat experiment list
  preheat experiment list --json""",
)
@json_option
def command(as_json: bool) -> int:
    """List the experiments."""
    from preheat.app import trial_store as store
    from preheat.cli.experiment_cards import whole
    from preheat.cli.screen import clean, console, hint, print_json, say
    from preheat.cli.text import columns, day

    folder = data_folder()
    every = store.plans(folder)
    verdicts = {entry.digest: entry.verdict for entry in store.ledger(folder) if entry.kind == "experiment"}
    if as_json:
        found = [
            {"experiment": name, "plan": plan, "stopped": stopped, "verdict": verdicts.get(name.partition("@")[2])}
            for name, plan, stopped in every
        ]
        print_json(whole(found))
        return 0
    if not every:
        hint("No experiment yet; `preheat experiment start NAME` begins one. The standing holdout is `standing`.")
        return 0
    rows = [["name", "since", "until", "arms", "metric", "verdict"]]
    for name, plan, stopped in every:
        verdict = verdicts.get(name.partition("@")[2], "runs" if stopped is None else "")
        until = day(stopped) if stopped is not None else ""
        rows.append([plan.name, day(plan.at), until, ", ".join(plan.arms), plan.metric, verdict])
    for line in columns(rows, left=6):
        say(console(), clean(line))
    return 0
