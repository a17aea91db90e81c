"""`preheat lab`: the same tasks with and without, paired. Its commands by name; each has a module of its own."""

import click

from preheat.cli.lazy import LazyGroup

COMMANDS = {
    "run": "Run a suite of tasks in every arm, and say what differs.",
    "report": "Show what a lab has shown.",
    "list": "List the labs.",
}
"""With the first line of their help; a test holds it to that."""


@click.group(
    cls=LazyGroup,
    table=COMMANDS,
    modules="preheat.cli.lab_",
    epilog="""\
  preheat lab run suite.yaml --endpoint http://127.0.0.1:8080/v1 --model NAME
  preheat lab run suite.yaml --arms cold,warm,placebo,note --repeats 3
  preheat lab report suite
  preheat lab list""",
)
def command() -> None:
    """Compare arms on tasks of your own: does starting warm help, how much of it, and in which form?

    Every task is done in every arm, by an agent that is asked through an endpoint of your choice. What the arms give is made
    before the first run and never changes; the order is drawn by a seed.
    """
