"""`preheat warm build`: a template from many sessions. Which of them, `preheat.templates.choice` says."""

from typing import Any

import click

from preheat.app.templates.library import Request, SessionRule
from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.home import open_analysed_archive
from preheat.cli.options import AgentName, DateOption
from preheat.cli.screen import print_json
from preheat.cli.template_making import show_built_template, template_json
from preheat.cli.template_names import make_template_filter
from preheat.cli.text import day


@click.command(
    "build",
    cls=ExampleCommand,
    epilog="""\
  preheat warm build mine --project .                   from the sessions of this project
  preheat warm build mine --project . --since 30d --max-error-rate 0.2
  preheat warm build long --min-messages 100 --max-sessions 20 --tag terminal

Building again changes nothing if nothing is new; else the name gets a new version, and the old one stays in its history.""",
)
@click.argument("name")
@click.option("--agent", type=AgentName(), metavar="NAME", help="Only this agent's sessions.")
@click.option("--project", metavar="TEXT", help="Only projects with this in their path; `.` is here.")
@click.option("--since", type=DateOption(), metavar="DATE", help="Only sessions that ended after: 2026-01-31, 7d, 2w.")
@click.option(
    "--min-messages",
    type=click.IntRange(0),
    default=30,
    show_default=True,
    metavar="N",
    help="The fewest messages a session may have.",
)
@click.option(
    "--max-sessions", type=click.IntRange(1), default=50, show_default=True, metavar="N", help="Only the newest N."
)
@click.option(
    "--max-error-rate", type=click.FloatRange(0, 1), default=0.5, show_default=True, metavar="SHARE",
    help="Leave out sessions in which more of the calls failed.",
)  # fmt: skip
@click.option("--weak", is_flag=True, help="Include lessons with little evidence, too.")
@click.option("--description", default="", metavar="TEXT", help="What it is for.")
@click.option("--addendum", default="", metavar="TEXT", help="Your own text, placed before everything else.")
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="A word to find it by (repeatable).")
@json_option
def build_command(
    name: str,
    min_messages: int,
    max_sessions: int,
    max_error_rate: float,
    weak: bool,
    description: str,
    addendum: str,
    tags: tuple[str, ...],
    as_json: bool,
    **options: Any,
) -> int:
    """Make a template from many sessions."""
    filters = {key: day(value) if key == "since" else value for key, value in options.items() if value}
    request = Request(name=name, description=description, addendum=addendum, tags=tags, weak=weak, filters=filters)
    rule = SessionRule(min_messages=min_messages, max_sessions=max_sessions, max_error_rate=max_error_rate)
    made = open_analysed_archive().library.build(request, make_template_filter(options), rule)
    if as_json:
        print_json(template_json(made))
    else:
        show_built_template(made, "Built")
    return 0
