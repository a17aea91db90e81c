"""`preheat warm history`: the versions of a template, and what was done with its name."""

import click

from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.home import open_preheat
from preheat.cli.screen import clean, console, print_json, say
from preheat.cli.template_names import TemplateName
from preheat.cli.text import columns, date_time, one_line
from preheat.model.template import shorten_digest


@click.command(
    "history",
    cls=ExampleCommand,
    epilog="""\
  preheat warm history mine
  preheat warm history mine --json""",
)
@click.argument("name", type=TemplateName(), metavar="NAME")
@json_option
def history_command(name: str, as_json: bool) -> int:
    """List the versions of a template.

    The newest comes first; `*` marks the present version.
    """
    found = open_preheat().library.history(name)
    if as_json:
        print_json({"name": name, **found.state._asdict(), "history": found.entries})
        return 0
    newest = list(reversed(found.entries))
    present = None if found.state.deleted else found.state.live
    marked = next((place for place, entry in enumerate(newest) if entry.digest == present), None)
    rows = [
        (
            "*" if place == marked else "",
            shorten_digest(entry.digest),
            date_time(entry.at),
            entry.action,
            one_line(clean(entry.note), 80),
        )
        for place, entry in enumerate(newest)
    ]
    for line in columns(rows, left=5):
        say(console(), line)
    return 0
