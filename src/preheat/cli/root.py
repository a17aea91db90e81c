"""The command `preheat` itself: its subcommands by name, and the screen it shows without one.

Knows its commands by name only, so that nothing is imported to list them.
"""

from typing import Any

import click

from preheat import __version__
from preheat.cli.command import CommandEntry, LazyGroup, json_option

COMMANDS = {
    "sync": CommandEntry("archive:sync_command", "Read what is new into the archive."),
    "sessions": CommandEntry(
        "sessions:sessions_group", "Read, search, watch and compare sessions; export and delete them."
    ),
    "mistakes": CommandEntry(
        "mistakes:mistakes_command", "Show the mistakes that sessions repeat, what they cost, and what fixes them."
    ),
    "lessons": CommandEntry(
        "lessons:lessons_group", "Learn what works; list, review, write and propose lessons, with their evidence."
    ),
    "where": CommandEntry("where:where_command", "Say which files a prompt will need, and why."),
    "start": CommandEntry("start:start_command", "Print what a new session should know, for a task."),
    "install": CommandEntry("install:install_command", "Have an agent call Preheat while it works."),
    "status": CommandEntry("install:status_command", "Say which agents call Preheat, and whether it works."),
    "report": CommandEntry("report:report_group", "Report on the week: what is new, better, worse, and what it cost."),
    "experiment": CommandEntry("experiment:experiment_group", "Find out by random assignment whether Preheat helps."),
}
"""The front page: ten at most. A command of a group is a line in the group's own table."""
MORE = {
    "open": CommandEntry("pages:open_command", "Look at sessions, mistakes, lessons and effects in a browser."),
    "templates": CommandEntry(
        "templates:templates_group", "Keep what was learned as templates; build, share and load them."
    ),
    "share": CommandEntry(
        "share:share_command", "Write approved lessons to `.preheat/lessons.toml` for review like code."
    ),
    "trust": CommandEntry("trust:trust_command", "Let sessions use the lessons that others shared in this repository."),
    "projects": CommandEntry("projects:projects_group", "Show which sessions belong to one project, and correct it."),
    "team": CommandEntry(
        "team:team_group", "Share lessons and numbers with a team, through a PostgreSQL database of yours."
    ),
    "fleet": CommandEntry(
        "fleet:fleet_group",
        "Analyse the transcripts of many machines on Ray; report on them, list and publish their lessons.",
    ),
    "admin": CommandEntry("admin:admin_group", "Look after Preheat itself: its health, daemon, tools and files."),
    "receipts": CommandEntry(
        "receipts:receipts_command", "Show what sessions were told, what was seen of it, and what it cost."
    ),
    "uninstall": CommandEntry("install:uninstall_command", "Remove Preheat from an agent's settings."),
    "demo": CommandEntry("demo:demo_command", "See on a recorded example what Preheat does."),
}
"""Listed below the front page."""


@click.group(
    cls=LazyGroup,
    table=COMMANDS,
    more=MORE,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="""\
  preheat                          read what is new; then what it cost, what to mend, what to do next
  preheat install AGENT            have an agent's sessions start with what was learned
  preheat mistakes --project .     repeated mistakes here, and what fixes them
  preheat where "fix the login test"
  preheat sessions search migration error
  preheat report --week

The archive is in PREHEAT_HOME, or in your system's folder for program data; only you can read it.
Nothing leaves this machine, unless you join a team (`preheat team`) or name a server for the archive.
Exit codes: 0 all good; 1 done, but something could not be read; 2 not done, and the message says why.""",
)
@click.version_option(__version__, message="preheat %(version)s")
@json_option
@click.pass_context
def root(context: click.Context, as_json: bool) -> Any:
    """Starts every session of a coding agent with what earlier sessions found out.

    Preheat reads the transcripts that agents leave (and delete after a while), removes the secrets, stores them, judges every
    tool call, learns what works and what goes wrong in each project, and gives the right part of it to a new session.
    """
    if context.invoked_subcommand is None:
        from preheat.cli.home_screen import show_home  # noqa: PLC0415 - loads rich

        return show_home(as_json)
    return None
