"""`preheat warm schema`: the JSON schema of template files, made from the types in `preheat.model`."""

import click

from preheat.cli.options import Examples, json_option


@click.command(
    cls=Examples,
    epilog="""\
  preheat warm schema > template.schema.json""",
)
@json_option
def command(as_json: bool) -> int:
    """Print the JSON schema of template files."""
    from preheat.cli.screen import print_json
    from preheat.templates.schema import schema

    print_json(schema())
    return 0
