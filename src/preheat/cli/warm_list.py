"""`preheat warm list`: the templates there are. They are kept by `preheat.templates.store`."""

from typing import Any

import click

from preheat.app.templates.library import TemplateSummary
from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.guard import DONE_WITH_PROBLEMS
from preheat.cli.home import open_preheat
from preheat.cli.screen import clean, console, hint, plain_table, print_json, print_table, say
from preheat.cli.template_names import describe_use
from preheat.cli.text import day, one_line


@click.command(
    "list",
    cls=ExampleCommand,
    epilog="""\
  preheat warm list
  preheat warm list --deleted          what `preheat warm restore` can bring back
  preheat warm list --json | jq '.[].name'""",
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
            "No template was deleted." if deleted else "There is no template yet; `preheat warm build NAME` makes one."
        )
        return 0
    _show_summaries(found)
    first = found[0].name
    hint(f"`preheat warm restore {first}` brings one back." if deleted else f"`preheat warm show {first}` shows one.")
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


def _show_summaries(rows: list[TemplateSummary]) -> None:
    table = plain_table(padding=(0, 2, 0, 0), header_style="bold", expand=True)
    for name, right in (("name", False), ("version", False), ("lessons", True), ("tokens", True), ("created", False)):
        table.add_column(name, justify="right" if right else "left", no_wrap=True)
    table.add_column("use", no_wrap=True)
    table.add_column("about", no_wrap=True, overflow="ellipsis", ratio=1)
    for row in rows:
        if not row.problem:
            table.add_row(*_cells(row))
    screen = console()
    if table.row_count:
        print_table(screen, table)
    for row in rows:
        if row.problem:
            say(screen, f"{row.name}: {clean(row.problem)}", "red")


def _cells(row: TemplateSummary) -> tuple[str, ...]:
    template = row.template
    about = one_line(clean(template.description if template else ""), 100)
    if row.waiting:
        about = f"waits for review: `preheat warm review {row.name}`"
    return (
        row.name,
        row.version,
        f"{len(template.lessons) if template else 0:,}",
        f"{row.tokens:,}",
        day(template.created_at if template else None),
        describe_use(row.tracked),
        about,
    )
