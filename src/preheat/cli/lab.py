"""`preheat lab`: the same tasks with and without, paired. Its commands by name; each has a module of its own."""

import click

from preheat.cli.command import ExampleGroup
from preheat.cli.lab_list import list_command
from preheat.cli.lab_report import report_command
from preheat.cli.lab_run import run_command


@click.group(
    "lab",
    cls=ExampleGroup,
    epilog="""\
  preheat lab run suite.yaml --endpoint http://127.0.0.1:8080/v1 --model NAME
  preheat lab run suite.yaml --arms cold,warm,placebo,note --repeats 3
  preheat lab report suite
  preheat lab list""",
)
def lab_group() -> None:
    """Compare arms on tasks of your own: does starting warm help, how much of it, and in which form?

    An agent does every task in every arm, with a model at an endpoint of your choice. The contexts of the arms are made before
    the first run and never change; the order of the runs is random, from a seed.
    """


for _command in (run_command, report_command, list_command):
    lab_group.add_command(_command)
