"""`preheat warm schema`: the JSON schema of template files, made from the types in `preheat.model`."""

import click

from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.home import open_preheat
from preheat.cli.screen import print_json


@click.command(
    "schema",
    cls=ExampleCommand,
    epilog="""\
  preheat warm schema > template.schema.json""",
)
@json_option
def schema_command(as_json: bool) -> int:
    """Print the JSON schema of template files."""
    print_json(open_preheat().library.schema())
    return 0
