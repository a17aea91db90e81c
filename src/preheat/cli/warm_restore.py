"""`preheat warm restore`: a deleted template stands again for what it stood for."""

import click

from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.home import open_preheat
from preheat.cli.screen import print_json
from preheat.cli.template_names import TemplateName


@click.command(
    "restore",
    cls=ExampleCommand,
    epilog="""\
  preheat warm list --deleted           what can be brought back
  preheat warm restore mine""",
)
@click.argument("name", type=TemplateName(deleted=True), metavar="NAME")
@json_option
def restore_command(name: str, as_json: bool) -> int:
    """Bring a deleted template back."""
    digest = open_preheat().library.restore(name)
    if as_json:
        print_json({"restored": name, "digest": digest})
    else:
        print(f"`{name}` is back.")
    return 0
