"""`preheat dataset`: data for others to study. Its commands by name; each has a module of its own."""

import click

from preheat.cli.lazy import LazyGroup

COMMANDS = {
    "export": "Write sessions' markers, lessons and templates as an anonymous dataset.",
    "check": "Look through a dataset for anything that gives somebody away.",
}
"""With the first line of their help; a test holds it to that."""


@click.group(
    cls=LazyGroup,
    table=COMMANDS,
    modules="preheat.cli.dataset_",
    epilog="""\
  preheat dataset export ~/agents-2026 --dry-run      what would be in it, and what would be left out
  preheat dataset export ~/agents-2026
  preheat dataset check ~/agents-2026                 once more, before you pass it on""",
)
def command() -> None:
    """Publish what sessions show, and nothing of whose they are.

    Nothing is sent anywhere: a dataset is a folder that you may pass on, or not.
    """
