"""`preheat warm schema`: the JSON schema of template files, made from the types in `preheat.model`."""

import click

from preheat.cli.command import Examples, json_option
from preheat.cli.home import home
from preheat.cli.screen import print_json


@click.command(
    "schema",
    cls=Examples,
    epilog="""\
  preheat warm schema > template.schema.json""",
)
@json_option
def schema_command(as_json: bool) -> int:
    """Print the JSON schema of template files."""
    print_json(home().library.schema())
    return 0
