"""The command `preheat where`: which files a prompt will need. Knows nothing of how they are found."""

import os

import click

from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.home import open_preheat
from preheat.cli.screen import clean, print_json
from preheat.cli.text import count, day
from preheat.errors import UserError
from preheat.model.orientation import Orientation, OrientedFile

_SILENCE = {
    "no telling words": "The prompt has no word that says where the work is.",
    "nothing stands out": "No file stands out for this prompt.",
}


@click.command(
    "where",
    cls=ExampleCommand,
    epilog="""\
  preheat where "the export crashes on empty invoices"     which files, the likeliest first
  preheat where "rename the login form" --explain          with every measure of each file
  preheat where "faster start" --opened src/main.py        without what is known already

Files come from similar earlier work, from names and words in the working tree, and from what changes together. The same is
said to an agent with its prompt, unless `orientation = false` stands below `[live]` in `settings.toml`.""",
)
@click.argument("prompt")
@click.option("--project", default="", metavar="FOLDER", help="The project's folder.  [default: this one]")
@click.option("--opened", multiple=True, metavar="FILE", help="Leave out this file, which is known (repeatable).")
@click.option("--explain", is_flag=True, help="Show the measures that each score is made of.")
@json_option
def where_command(prompt: str, project: str, opened: tuple[str, ...], explain: bool, as_json: bool) -> int:
    """Say which files a prompt will need, and why."""
    if project and not os.path.isdir(project):
        raise UserError(f"there is no folder `{project}`")
    found = open_preheat().orient(prompt, project, opened)
    if as_json:
        print_json(found)
    elif found.is_empty:
        click.echo(_SILENCE.get(found.silence, "No file stands out for this prompt."))
    else:
        _show(found, explain)
    return 0


def _show(found: Orientation, explain: bool) -> None:
    for each in found.files:
        click.echo(f"{each.probability:4.0%}  {clean(each.path)}  ({', '.join(each.reasons)})")
        for symbol in each.symbols:
            click.echo(f"        {clean(symbol.name)}, lines {symbol.first_line} to {symbol.last_line}")
        if each.tests:
            click.echo(f"        covered by {', '.join(map(clean, each.tests))}")
        if explain:
            click.echo(f"        {_explain(each)}")
    if found.check is not None:
        lasted = "" if found.check.seconds is None else f", about {found.check.seconds:.0f} s"
        click.echo(
            f"Checked before with: {clean(found.check.command)}{lasted} (passed {count(found.check.passed, 'time')})"
        )
    for work in found.similar:
        words = f" ({', '.join(map(clean, work.words))})" if work.words else ""
        click.echo(f"Similar work on {day(work.at)}{words}: {', '.join(map(clean, work.files))}")
        click.echo(f"        preheat sessions show {clean(work.session)}")


def _explain(file: OrientedFile) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in file.measures.items())
