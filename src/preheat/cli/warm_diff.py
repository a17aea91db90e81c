"""`preheat warm diff`: what changed from one version of a template to another."""

import click

from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.home import open_preheat
from preheat.cli.screen import print_json
from preheat.cli.template_cards import show_version_difference
from preheat.cli.template_names import TemplateName


@click.command(
    "diff",
    cls=ExampleCommand,
    epilog="""\
  preheat warm diff mine                 what the last version changed
  preheat warm diff mine@3fa2 mine       since a version
  preheat warm diff mine theirs          two templates

Lessons are compared by their ids: `+` added, `-` removed, `~` changed.""",
)
@click.argument("first", type=TemplateName(), metavar="A")
@click.argument("second", type=TemplateName(), metavar="[B]", required=False)
@json_option
def diff_command(first: str, second: str | None, as_json: bool) -> int:
    """Show what changed from one version to another.

    Without B, from the version before A to A.
    """
    found = open_preheat().library.compare(first, second)
    if as_json:
        print_json({"from": found.before.digest, "to": found.after.digest, "difference": found.difference})
    else:
        show_version_difference(found)
    return 0
