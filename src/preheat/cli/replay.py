"""`preheat replay`: a session's timeline, as it would have been watched live. The watching is `preheat.app`'s work."""

import click

from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.heading import heading_lines
from preheat.cli.home import open_archive
from preheat.cli.options import SessionName
from preheat.cli.screen import console, hint, print_json, say
from preheat.cli.timeline import show_timeline, timeline_json


@click.command(
    "replay",
    cls=ExampleCommand,
    epilog="""\
  preheat replay latest                          phases, signals and advisories
  preheat replay 0f3c1a2b --all | less -R        every call
  preheat replay 0f3c1a2b --json | jq .advisories""",
)
@click.argument("session", type=SessionName())
@click.option("--all", "everything", is_flag=True, help="Every call, also those without a signal.")
@json_option
def replay_command(session: str, everything: bool, as_json: bool) -> int:
    """Show a session as it would be watched live: phases, signals, advisories.

    SESSION is an id, the beginning of one, or `latest`. Each line is a call or a prompt with its turn, followed by the
    signals that changed, with `!` if one is over its threshold. Below it are a change of phase with its reason, and the advisory
    that the agent would have got.
    """
    found = open_archive().live.replay(session)
    if as_json:
        print_json(timeline_json(found.timeline))
        return 0
    screen = console()
    for line, style in heading_lines(open_archive().archive.transcript(session)):
        say(screen, line, style)
    say(screen)
    show_timeline(screen, found.timeline, everything)
    hint(f"`preheat why {found.short}:TURN` shows the arithmetic of a turn.")
    return 0
