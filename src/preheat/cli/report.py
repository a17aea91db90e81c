"""The group `preheat report`: the weekly digest, and by name only the other reports. Counts nothing itself."""

import os
from typing import TYPE_CHECKING

import click

from preheat.cli.command import CommandEntry, LazyGroup, json_option
from preheat.cli.home import open_analysed_archive
from preheat.cli.screen import console, print_json

if TYPE_CHECKING:
    from preheat.model.digest import DigestForm

_COMMANDS = {
    "cost": CommandEntry(
        "cost:cost_command", "Show what sessions cost: tokens and money by day, project, model, agent or session."
    ),
    "profile": CommandEntry("profile:profile_command", "Say how reliable the agent was: in one session, or over many."),
    "page": CommandEntry("pages:page_command", "Write a page as one file to hand on."),
    "compactions": CommandEntry(
        "comparison:compactions_command", "Say whether agents work as well after a compaction as before."
    ),
}

_FORMS = ("text", "markdown", "html")
_WIDEST = 110


@click.group(
    "report",
    cls=LazyGroup,
    table=_COMMANDS,
    invoke_without_command=True,
    epilog="""\
  preheat report --week                              new, better, worse, learned, and what waits for you
  preheat report --week --project . --format markdown
  preheat report --week --format html -o week.html
  preheat report cost --by project
  preheat report profile --project . --since 30d

Counts of mistakes are counts. Only what was assigned at random is called prevented (`preheat experiment report`); what
receipts saw (`preheat receipts`) stands beside it as seen, not proved.""",
)
@click.option(
    "--week", is_flag=True, help="The last seven days, or the last seven with a session (this is the default)."
)
@click.option("--project", default="", metavar="NAME|FOLDER", help="Only this project; `.` is here.")
@click.option("--format", "form", type=click.Choice(_FORMS), default="text", show_default=True, help="How to write it.")
@click.option("-o", "--output", default="", metavar="FILE", help="Write there instead of to the screen.")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@json_option
@click.pass_context
def report_group(
    context: click.Context, week: bool, project: str, form: "DigestForm", output: str, force: bool, as_json: bool
) -> int:
    """Report on the week: what is new, better, worse, and what it cost."""
    if context.invoked_subcommand is not None:
        return 0
    home = open_analysed_archive()
    digest = home.digest(os.path.abspath(os.path.expanduser(project)) if project[:1] in (".", "~") else project)
    if as_json:
        print_json(digest)
        return 0
    text = home.render_digest(digest, form, min(console().width, _WIDEST))
    if output and output != "-":
        home.exports.save_document(output, text.encode(), force)
        print(f"Wrote `{output}`.")
    else:
        print(text, end="")
    return 0
