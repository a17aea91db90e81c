"""`preheat warm rollback`: a name stands for an earlier version again."""

import click

from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.home import open_preheat
from preheat.cli.screen import print_json
from preheat.cli.template_names import TemplateName


@click.command(
    "rollback",
    cls=ExampleCommand,
    epilog="""\
  preheat warm rollback mine            to the version before
  preheat warm rollback mine 3fa2       to one by the beginning of its digest

Nothing is lost: a rollback is one more line of the history, and you can also go forward to a later version.""",
)
@click.argument("name", type=TemplateName(), metavar="NAME")
@click.argument("digest", required=False)
@json_option
def rollback_command(name: str, digest: str | None, as_json: bool) -> int:
    """Go back to an earlier version."""
    found = open_preheat().library.roll_back(name, digest or "")
    if as_json:
        print_json({"name": found.name, "digest": found.digest})
    else:
        print(f"`{found.name}` is `{found.title}` again.")
    return 0
