"""`preheat warm load`: which template the new sessions of a project start with."""

import os
from typing import Any

import click

from preheat.app.templates.library import ProjectTemplate
from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.home import open_preheat
from preheat.cli.screen import hint, print_json
from preheat.cli.template_names import TemplateName
from preheat.cli.text import date_time, printable, short_path
from preheat.errors import UserError
from preheat.model.template import shorten_digest


@click.command(
    "load",
    cls=ExampleCommand,
    epilog="""\
  preheat warm load mine               new sessions of this project start with it
  preheat warm load mine@-1            with the version before
  preheat warm load                    what is loaded
  preheat warm load --none             start with what was learned again

The version is pinned: when the template is built again, sessions get the old version until you load it again. They also get
where the last session stopped. It reaches sessions of agents that call Preheat (`preheat status`), and `preheat warm start`.""",
)
@click.argument("name", type=TemplateName(), metavar="[NAME]", required=False)
@click.option("--none", "unload_it", is_flag=True, help="Load nothing: sessions start with what was learned.")
@click.option("--project", metavar="FOLDER", help="The project.  [default: the one around this folder]")
@json_option
def load_command(name: str | None, unload_it: bool, project: str | None, as_json: bool) -> int:
    """Have new sessions of a project start with a template.

    Without NAME, shows what is loaded.
    """
    if name and unload_it:
        raise click.UsageError("name a template or give `--none`, not both")
    if project and not os.path.isdir(os.path.expanduser(project)):
        raise UserError(f"`{project}` is not a folder; give the folder of a project")
    library, where = open_preheat().library, project or os.getcwd()
    if unload_it:
        found = library.unload(where)
    elif name:
        found = library.load(name, where)
    else:
        found = library.project_template(where)
    if as_json:
        print_json({"project": found.project, "loaded": _loaded_json(found)})
    elif unload_it:
        outcome = f"`{found.unloaded.title}` is no longer loaded" if found.unloaded else "No template was loaded"
        print(f"{outcome}: new sessions in `{printable(short_path(found.project))}` start with what was learned.")
    else:
        _print_loaded(found)
    return 0


def _loaded_json(found: ProjectTemplate) -> dict[str, Any] | None:
    loaded = found.status
    if loaded is None:
        return None
    return {
        "name": loaded.pin.name,
        "digest": loaded.pin.digest,
        "at": loaded.pin.at,
        "problem": loaded.problem or None,
        "newer": loaded.newer or None,
    }


def _print_loaded(loaded: ProjectTemplate) -> None:
    place, found = printable(short_path(loaded.project)), loaded.status
    if found is None:
        print(f"No template is loaded for `{place}`: new sessions there start with what was learned.")
        hint("`preheat warm load NAME` loads one; `preheat warm list` shows them.")
        return
    print(f"New sessions in `{place}` start with `{found.pin.title}` (loaded {date_time(found.pin.at)}).")
    if found.problem:
        print(f"  but it cannot be used: {printable(found.problem)}; until then they start with what was learned")
    elif found.newer:
        print(
            f"  `{found.pin.name}` is at {shorten_digest(found.newer)} now; `preheat warm load {found.pin.name}` loads that"
        )
    hint(f'`preheat warm test {found.pin.title} "TASK"` shows what they get; `preheat warm load --none` unloads it.')
