"""`preheat experiment`: comparisons by lot. Its commands by name; each has a module of its own."""

import click

from preheat.cli.lazy import LazyGroup

COMMANDS = {
    "status": "Say what is left to chance now, and what is known so far.",
    "start": "Start an experiment: from then on lots decide how sessions start.",
    "report": "Show everything that an experiment has shown.",
    "stop": "End an experiment, and enter what it showed into the ledger.",
    "power": "Say how many sessions a comparison needs, from your own sessions.",
    "explain": "Show what an item did to the sessions that were given or spared it.",
    "list": "List the experiments.",
}
"""With the first line of their help; a test holds it to that."""


@click.group(
    cls=LazyGroup,
    table=COMMANDS,
    modules="preheat.cli.experiment_",
    epilog="""\
  preheat experiment status                     does starting warm help here?
  preheat experiment power --margin 0.01        how many sessions it takes to tell
  preheat experiment start mine --arms warm,cold --shares 0.5,0.5 --metric mistakes
  preheat experiment report mine
  preheat experiment stop mine                  the ledger keeps what it showed, whatever that is""",
)
def command() -> None:
    """Find out by lot whether any of it helps.

    One session in five starts without, by a standing holdout, so that there is always something to compare with. An
    experiment with a plan takes its place while it runs: it names its arms, its metric and its end before the first session.
    """
