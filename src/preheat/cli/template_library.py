"""The commands for the templates there are: `preheat templates list`, `show`, `diff`, `history`, `rollback`, `delete`, `restore`,
`load`.

Knows nothing of how they are stored.
"""

import os
import time
from typing import Any

import click

from preheat.app.templates.library import ProjectTemplate, TemplateSummary
from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.exit_codes import DONE_WITH_PROBLEMS
from preheat.cli.home import open_preheat
from preheat.cli.screen import clean, console, hint, plain_table, print_json, print_table, say
from preheat.cli.template_names import TemplateName, describe_use
from preheat.cli.template_screen import show_template_head, show_version_difference
from preheat.cli.text import columns, date_time, day, one_line, printable, short_path
from preheat.errors import UserError
from preheat.model.template import shorten_digest


# `preheat templates list`
@click.command(
    "list",
    cls=ExampleCommand,
    epilog="""\
  preheat templates list
  preheat templates list --deleted          what `preheat templates restore` can bring back
  preheat templates list --json | jq '.[].name'""",
)
@click.option("--deleted", is_flag=True, help="Only deleted templates.")
@json_option
def list_command(deleted: bool, as_json: bool) -> int:
    """List the templates.

    `success` is the share of the sessions with the template, and with a check, whose last check passed.
    """
    found = open_preheat().library.summaries(deleted, follow=True)
    code = DONE_WITH_PROBLEMS if any(each.problem for each in found) else 0
    if as_json:
        print_json([_summary_json(each) for each in found])
        return code
    if not found:
        hint(
            "No template was deleted."
            if deleted
            else "There is no template yet; `preheat templates build NAME` makes one."
        )
        return 0
    _show_summaries(found)
    first = found[0].name
    hint(
        f"`preheat templates restore {first}` brings one back."
        if deleted
        else f"`preheat templates show {first}` shows one."
    )
    return code


def _summary_json(found: TemplateSummary) -> dict[str, Any]:
    """A template for JSON; one that cannot be read has only its problem."""
    if found.problem:
        return {"name": found.name, "problem": found.problem}
    template = found.template
    return {
        "name": found.name,
        "digest": found.digest,
        "description": template.description if template else "",
        "lessons": len(template.lessons) if template else 0,
        "tokens": found.tokens,
        "versions": found.versions,
        "waiting": found.waiting,
        "live": found.live,
        "tracked": found.tracked,
        "used": describe_use(found.tracked),
        "created_at": template.created_at if template else None,
    }


_WIDE = 90
_COLUMNS = (
    ("name", False),
    ("version", True),
    ("lessons", False),
    ("tokens", True),
    ("created", False),
    ("use", False),
)
"""The columns before the description, and which of them a narrow window leaves out."""


def _show_summaries(rows: list[TemplateSummary]) -> None:
    screen = console()
    table = plain_table(padding=(0, 2, 0, 0), header_style="bold", expand=True)
    shown = [place for place, (_, needs_room) in enumerate(_COLUMNS) if screen.width >= _WIDE or not needs_room]
    for name in (_COLUMNS[place][0] for place in shown):
        table.add_column(name, justify="right" if name in ("lessons", "tokens") else "left", no_wrap=True)
    table.add_column("about", no_wrap=True, overflow="ellipsis", ratio=1)
    for row in rows:
        if not row.problem:
            *cells, about = _cells(row)
            table.add_row(*(cells[place] for place in shown), about)
    if table.row_count:
        print_table(screen, table)
    for row in rows:
        if row.problem:
            say(screen, f"{row.name}: {clean(row.problem)}", "red")


def _cells(row: TemplateSummary) -> tuple[str, ...]:
    template = row.template
    about = one_line(clean(template.description if template else ""), 100)
    if row.waiting:
        about = f"waits for review: `preheat templates review {row.name}`"
    return (
        row.name,
        row.version,
        f"{len(template.lessons) if template else 0:,}",
        f"{row.tokens:,}",
        day(template.created_at if template else None),
        describe_use(row.tracked),
        about,
    )


# `preheat templates show`
@click.command(
    "show",
    cls=ExampleCommand,
    epilog="""\
  preheat templates show mine
  preheat templates show mine@-1            the version before
  preheat templates show mine --evidence    with the sessions and calls behind each lesson
  preheat templates show mine --json""",
)
@click.argument("template", type=TemplateName(), metavar="NAME")
@click.option("--evidence", is_flag=True, help="Show the evidence of each lesson.")
@json_option
def show_command(template: str, evidence: bool, as_json: bool) -> int:
    """Show the lessons of a template, and their evidence."""
    found = open_preheat().library.show(template)
    version = found.version
    if as_json:
        facts = {"name": version.name, "digest": version.digest, "template": version.template}
        print_json({**facts, "tracked": found.tracked, "waiting": found.waiting})
        return 0
    from preheat.cli.lesson_screen import show_lesson, show_lessons  # noqa: PLC0415 - rich takes longer than a completion

    show_template_head(found)
    screen = console()
    say(screen)
    if not evidence:
        show_lessons(version.template.lessons, time.time())
        return 0
    for lesson in version.template.lessons:
        show_lesson(lesson, {}, time.time())
        say(screen)
    return 0


# `preheat templates diff`
@click.command(
    "diff",
    cls=ExampleCommand,
    epilog="""\
  preheat templates diff mine                 what the last version changed
  preheat templates diff mine@3fa2 mine       since a version
  preheat templates diff mine theirs          two templates

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


# `preheat templates history`
@click.command(
    "history",
    cls=ExampleCommand,
    epilog="""\
  preheat templates history mine
  preheat templates history mine --json""",
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


# `preheat templates rollback`
@click.command(
    "rollback",
    cls=ExampleCommand,
    epilog="""\
  preheat templates rollback mine            to the version before
  preheat templates rollback mine 3fa2       to one by the beginning of its digest

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


# `preheat templates delete`
@click.command(
    "delete",
    cls=ExampleCommand,
    epilog="""\
  preheat templates delete mine
  preheat templates restore mine             brings it back""",
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
        hint(f"`preheat templates restore {name}` brings it back.")
    return 0


# `preheat templates restore`
@click.command(
    "restore",
    cls=ExampleCommand,
    epilog="""\
  preheat templates list --deleted           what can be brought back
  preheat templates restore mine""",
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


# `preheat templates load`
@click.command(
    "load",
    cls=ExampleCommand,
    epilog="""\
  preheat templates load mine               new sessions of this project start with it
  preheat templates load mine@-1            with the version before
  preheat templates load                    what is loaded
  preheat templates load --none             start with what was learned again

The version is pinned: when the template is built again, sessions get the old version until you load it again. They also get
where the last session stopped. It reaches sessions of agents that call Preheat (`preheat status`), and `preheat start`.""",
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
        hint("`preheat templates load NAME` loads one; `preheat templates list` shows them.")
        return
    print(f"New sessions in `{place}` start with `{found.pin.title}` (loaded {date_time(found.pin.at)}).")
    if found.problem:
        print(f"  but it cannot be used: {printable(found.problem)}; until then they start with what was learned")
    elif found.newer:
        print(
            f"  `{found.pin.name}` is at {shorten_digest(found.newer)} now; `preheat templates load {found.pin.name}` loads that"
        )
    hint(
        f'`preheat templates test {found.pin.title} "TASK"` shows what they get; `preheat templates load --none` unloads it.'
    )
