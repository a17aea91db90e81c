"""The command `preheat report profile`: how reliable an agent was, in one session or over many. Measures nothing."""

from typing import Any

import click

from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.home import open_archive
from preheat.cli.options import SessionName, filter_options, make_filter
from preheat.cli.screen import console, hint, print_json
from preheat.errors import UserError


@click.command(
    "profile",
    cls=ExampleCommand,
    epilog="""\
  preheat report profile                                      all sessions: by length, tool, agent, model, project
  preheat report profile --project . --since 30d --html report.html
  preheat report profile latest                               one session
  preheat report profile 0f3c1a2b --json | jq .errors""",
)
@click.argument("session", type=SessionName(), required=False)
@filter_options
@click.option("--all", "everything", is_flag=True, help="Every tool, model and project, not only the most used.")
@click.option("--html", type=click.Path(dir_okay=False), metavar="FILE", help="Also write the report as an HTML page.")
@json_option
def profile_command(session: str | None, everything: bool, html: str | None, as_json: bool, **options: Any) -> int:
    """Say how reliable the agent was: in one session, or over many.

    SESSION is an id, the beginning of one, or `latest`. Every call is judged by what its agent recorded: whether it worked,
    and if not, whether the cause was a mistake of the agent, a finding (bad news from a tool that did its work, such as a failing
    test), the environment (what is not installed, network, permissions, time limits) or unknown. Rates come with 95 % intervals.
    """
    if session is None:
        from preheat.cli.population_screen import show_population  # noqa: PLC0415 - rich takes longer than a completion

        return show_population(make_filter(options), everything=everything, html=html, as_json=as_json)
    if html or everything or any(options.values()):
        raise UserError(
            f"filters, --all and --html are for many sessions; `preheat report profile {session}` takes none of them"
        )
    return _show_session(session, as_json)


def _show_session(name: str, as_json: bool) -> int:
    sessions = open_archive().archive
    summary = sessions.find(name)
    measured = sessions.profile(summary.key)
    if as_json:
        print_json(measured)
        return 0
    from preheat.cli.profile_screen import show_profile  # noqa: PLC0415 - rich takes longer than a completion

    short = sessions.short_names([summary.key])[summary.key]
    show_profile(console(), summary, measured)
    hint(f"`preheat sessions show {short}{' --calls' if measured.calls else ''}` shows the session itself.")
    return 0
