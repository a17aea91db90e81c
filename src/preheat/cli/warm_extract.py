"""`preheat warm extract`: a template from one session. What it taught is learned by `preheat.app.learning.learning`."""

import click

from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.home import open_analysed_archive
from preheat.cli.options import SessionName
from preheat.cli.screen import print_json
from preheat.cli.template_making import show_built_template, template_json


@click.command(
    "extract",
    cls=ExampleCommand,
    epilog="""\
  preheat warm extract latest --name login
  preheat warm extract 0f3c1a2b --name login --description "how the login tests are run"

One session is little evidence; its lessons are included all the same, because you chose the session.""",
)
@click.argument("session", type=SessionName())
@click.option("--name", metavar="NAME", help="The template's name.  [default: from the project and the session's id]")
@click.option("--description", default="", metavar="TEXT", help="What it is for.")
@click.option("--addendum", default="", metavar="TEXT", help="Your own text, placed before everything else.")
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="A word to find it by (repeatable).")
@json_option
def extract_command(
    session: str, name: str | None, description: str, addendum: str, tags: tuple[str, ...], as_json: bool
) -> int:
    """Make a template from one session.

    SESSION is an id, the beginning of one, or `latest`.
    """
    made = open_analysed_archive().library.extract(session, name or "", description, addendum, tags)
    if as_json:
        print_json(template_json(made))
    else:
        show_built_template(made, "Extracted")
    return 0
