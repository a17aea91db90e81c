"""The group `preheat report`: what happened, in numbers. Knows its commands by name only."""

import click

from preheat.cli.command import CommandEntry, LazyGroup

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


@click.group(
    "report",
    cls=LazyGroup,
    table=_COMMANDS,
    epilog="""\
  preheat report cost --by project
  preheat report profile --project . --since 30d""",
)
def report_group() -> None:
    """Report on the week: what is new, better, worse, and what it cost."""
