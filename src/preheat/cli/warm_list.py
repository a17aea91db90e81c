"""`preheat warm list`: the templates there are. They are kept by `preheat.templates.store`."""

from typing import TYPE_CHECKING, Any

import click

from preheat.cli.guard import PROBLEMS
from preheat.cli.options import Examples, json_option

if TYPE_CHECKING:
    from preheat.model.template import Tracked
    from preheat.templates.store import Store


@click.command(
    cls=Examples,
    epilog="""\
  preheat warm list
  preheat warm list --deleted          what `preheat warm restore` can bring back
  preheat warm list --json | jq '.[].name'""",
)
@click.option("--deleted", is_flag=True, help="Those that were deleted.")
@json_option
def command(deleted: bool, as_json: bool) -> int:
    """List the templates.

    `success` is the share of sessions that got the template and whose last check passed, of those that had a check.
    """
    from preheat.cli.screen import hint, print_json
    from preheat.cli.template_names import store
    from preheat.cli.template_tracking import tracked_by_version

    kept = store()
    names = kept.names(deleted)
    tracks = tracked_by_version() if names else {}
    rows = [_row(kept, name, tracks) for name in names]
    code = PROBLEMS if any("problem" in row for row in rows) else 0
    if as_json:
        print_json(rows)
        return code
    if not rows:
        hint(
            "No template was deleted." if deleted else "There is no template yet; `preheat warm build NAME` makes one."
        )
        return 0
    _show(rows)
    first = rows[0]["name"]
    hint(f"`preheat warm restore {first}` brings one back." if deleted else f"`preheat warm show {first}` shows one.")
    return code


def _row(kept: "Store", name: str, tracks: "dict[str, Tracked]") -> dict[str, Any]:
    """One that cannot be read is listed with what is wrong with it."""
    from preheat.cli.template_tracking import together, told
    from preheat.errors import UserError
    from preheat.provisioning.tokens import estimate

    try:
        state = kept.state(name)
        digest = state.live or state.waiting
        template = kept.read(digest) if digest else None
    except UserError as error:
        return {"name": name, "problem": str(error)}
    track = together(tracks, state.versions)
    lessons = template.lessons if template else ()
    return {
        "name": name,
        "digest": digest,
        "description": template.description if template else "",
        "lessons": len(lessons),
        "tokens": sum(estimate(lesson.text) for lesson in lessons),
        "versions": len(state.versions),
        "waiting": state.waiting is not None,
        "live": state.live is not None,
        "tracked": track,
        "used": told(track),
        "created_at": template.created_at if template else None,
    }


def _show(rows: list[dict[str, Any]]) -> None:
    from rich.table import Table
    from rich.text import Text

    from preheat.cli.screen import clean, console, print_table, say
    from preheat.cli.text import day, one_line
    from preheat.templates.digest import short

    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold", expand=True)
    for name, right in (("name", False), ("version", False), ("lessons", True), ("tokens", True), ("created", False)):
        table.add_column(name, justify="right" if right else "left", no_wrap=True)
    table.add_column("use", no_wrap=True)
    table.add_column("about", no_wrap=True, overflow="ellipsis", ratio=1)
    for row in rows:
        if "problem" in row:
            continue
        about = one_line(clean(row["description"]), 100)
        if row["waiting"]:
            about = f"waits for review: `preheat warm review {row['name']}`"
        cells = (
            short(row["digest"] or ""),
            f"{row['lessons']:,}",
            f"{row['tokens']:,}",
            day(row["created_at"]),
            row["used"],
        )
        table.add_row(*(Text(cell) for cell in (row["name"], *cells, about)))
    screen = console()
    if table.row_count:
        print_table(screen, table)
    for row in rows:
        if "problem" in row:
            say(screen, f"{row['name']}: {clean(row['problem'])}", "red")
