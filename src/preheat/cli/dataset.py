"""`preheat dataset`: data for others to study. Its commands by name; each has a module of its own."""

import click

from preheat.cli.command import ExampleGroup
from preheat.cli.dataset_check import check_command
from preheat.cli.dataset_export import export_command


@click.group(
    "dataset",
    cls=ExampleGroup,
    epilog="""\
  preheat dataset export ~/agents-2026 --dry-run      what it would contain, and what would be left out
  preheat dataset export ~/agents-2026
  preheat dataset check ~/agents-2026                 check again before you share it""",
)
def dataset_group() -> None:
    """Publish what sessions show, without anything that identifies people or projects.

    Nothing is sent anywhere: a dataset is a folder that you can share.
    """


for _command in (export_command, check_command):
    dataset_group.add_command(_command)
