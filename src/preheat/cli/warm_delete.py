"""`preheat warm delete`: a template is no longer found; its versions and its history stay."""

import click

from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.home import open_preheat
from preheat.cli.screen import hint, print_json
from preheat.cli.template_names import TemplateName


@click.command(
    "delete",
    cls=ExampleCommand,
    epilog="""\
  preheat warm delete mine
  preheat warm restore mine             brings it back""",
)
@click.argument("name", type=TemplateName(), metavar="NAME")
@json_option
def delete_command(name: str, as_json: bool) -> int:
    """Delete a template; `restore` brings it back."""
    open_preheat().library.delete(name)
    if as_json:
        print_json({"deleted": name})
    else:
        print(f"`{name}` was deleted.")
        hint(f"`preheat warm restore {name}` brings it back.")
    return 0
