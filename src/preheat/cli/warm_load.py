"""`preheat warm load`: which template the new sessions of a project start with."""

import os
import time
from typing import TYPE_CHECKING, Any

import click

from preheat.cli.options import Examples, json_option
from preheat.cli.template_names import TemplateName
from preheat.cli.text import moment, printable, short_path
from preheat.errors import UserError

if TYPE_CHECKING:
    from preheat.app.template_state import Standing


@click.command(
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
def command(name: str | None, unload_it: bool, project: str | None, as_json: bool) -> int:
    """Have new sessions of a project start with a template.

    Without NAME, say what is loaded.
    """
    from preheat.app.projects import project_folder
    from preheat.app.template_state import load_for, pins, standing, unload
    from preheat.settings import data_folder

    if name and unload_it:
        raise click.UsageError("name a template, or say `--none`, not both")
    if project and not os.path.isdir(os.path.expanduser(project)):
        raise UserError(f"`{project}` is no folder; name the folder of a project")
    folder, where = data_folder(), project_folder(project or os.getcwd())
    taken = unload(folder, where) if unload_it else None
    if name:
        load_for(folder, where, name, time.time())
    pin = pins(folder).get(where)
    found = standing(folder, pin) if pin is not None else None
    if as_json:
        _print_json(where, found)
    elif unload_it:
        ends = f"`{taken.title}` is no longer loaded" if taken else "No template was loaded"
        print(f"{ends}: new sessions in `{printable(short_path(where))}` start with what was learned.")
    else:
        _say(where, found)
    return 0


def _print_json(where: str, found: "Standing | None") -> None:
    from preheat.cli.screen import print_json

    loaded: dict[str, Any] | None = None
    if found is not None:
        loaded = {
            "name": found.pin.name,
            "digest": found.pin.digest,
            "at": found.pin.at,
            "problem": found.problem or None,
            "newer": found.newer or None,
        }
    print_json({"project": where, "loaded": loaded})


def _say(where: str, found: "Standing | None") -> None:
    from preheat.cli.screen import hint
    from preheat.templates.digest import short

    place = printable(short_path(where))
    if found is None:
        print(f"No template is loaded for `{place}`: new sessions there start with what was learned.")
        hint("`preheat warm load NAME` loads one; `preheat warm list` shows them.")
        return
    print(f"New sessions in `{place}` start with `{found.pin.title}` (loaded {moment(found.pin.at)}).")
    if found.problem:
        print(f"  but not now: {printable(found.problem)}; until then they start with what was learned")
    elif found.newer:
        print(f"  `{found.pin.name}` is at {short(found.newer)} now; `preheat warm load {found.pin.name}` takes that")
    hint(f'`preheat warm test {found.pin.title} "TASK"` shows what they are told; `preheat warm load --none` ends it.')
