"""`preheat warm load`: which template the new sessions of a project start with."""

import os
from typing import Any

import click

from preheat.app.templates.library import Loaded
from preheat.cli.home import home
from preheat.cli.options import Examples, json_option
from preheat.cli.screen import hint, print_json
from preheat.cli.template_names import TemplateName
from preheat.cli.text import moment, printable, short_path
from preheat.errors import UserError
from preheat.model.template import short_digest


@click.command(
    "load",
    cls=Examples,
    epilog="""\
  preheat warm load mine               new sessions of this project start with it
  preheat warm load mine@-1            with the version before
  preheat warm load                    what is loaded
  preheat warm load --none             with what was learned again

A version is pinned: when the template is built anew, sessions get the old one until you load it again. Where the last session
stopped is told besides. Sessions get it from agents that call Preheat (`preheat status`), and from `preheat warm start`.""",
)
@click.argument("name", type=TemplateName(), metavar="[NAME]", required=False)
@click.option("--none", "unload_it", is_flag=True, help="Load nothing: sessions start with what was learned.")
@click.option("--project", metavar="FOLDER", help="For this project; the one around this folder unless given.")
@json_option
def load_command(name: str | None, unload_it: bool, project: str | None, as_json: bool) -> int:
    """Have new sessions of a project start with a template.

    Without NAME, say what is loaded.
    """
    if name and unload_it:
        raise click.UsageError("name a template, or say `--none`, not both")
    if project and not os.path.isdir(os.path.expanduser(project)):
        raise UserError(f"`{project}` is no folder; name the folder of a project")
    library, where = home().library, project or os.getcwd()
    if unload_it:
        found = library.unload(where)
    elif name:
        found = library.load(name, where)
    else:
        found = library.loaded(where)
    if as_json:
        print_json({"project": found.project, "loaded": _value(found)})
    elif unload_it:
        ends = f"`{found.ended.title}` is no longer loaded" if found.ended else "No template was loaded"
        print(f"{ends}: new sessions in `{printable(short_path(found.project))}` start with what was learned.")
    else:
        _say(found)
    return 0


def _value(found: Loaded) -> dict[str, Any] | None:
    standing = found.standing
    if standing is None:
        return None
    return {
        "name": standing.pin.name,
        "digest": standing.pin.digest,
        "at": standing.pin.at,
        "problem": standing.problem or None,
        "newer": standing.newer or None,
    }


def _say(loaded: Loaded) -> None:
    place, found = printable(short_path(loaded.project)), loaded.standing
    if found is None:
        print(f"No template is loaded for `{place}`: new sessions there start with what was learned.")
        hint("`preheat warm load NAME` loads one; `preheat warm list` shows them.")
        return
    print(f"New sessions in `{place}` start with `{found.pin.title}` (loaded {moment(found.pin.at)}).")
    if found.problem:
        print(f"  but not now: {printable(found.problem)}; until then they start with what was learned")
    elif found.newer:
        print(
            f"  `{found.pin.name}` is at {short_digest(found.newer)} now; `preheat warm load {found.pin.name}` takes that"
        )
    hint(f'`preheat warm test {found.pin.title} "TASK"` shows what they are told; `preheat warm load --none` ends it.')
