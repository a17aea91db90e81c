"""`preheat why`: the arithmetic of every signal at one turn of a session. Nothing is measured here."""

from typing import TYPE_CHECKING

import click

from preheat.app.live.watching import Explanation
from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.home import open_archive
from preheat.cli.options import SessionName
from preheat.cli.screen import clean, console, print_json, say
from preheat.cli.text import one_line, time_of_day
from preheat.cli.timeline import advisory_text
from preheat.model.live import CallEvent

if TYPE_CHECKING:
    from rich.console import Console


_LABEL = 38


@click.command(
    "why",
    cls=ExampleCommand,
    epilog="""\
  preheat why latest                             after the last turn
  preheat why 0f3c1a2b:12                        after turn 12
  preheat why 0f3c1a2b:12 --json | jq '.readings[] | select(.fired)'""",
)
@click.argument("session", type=SessionName(), metavar="SESSION[:TURN]")
@json_option
def why_command(session: str, as_json: bool) -> int:
    """Show how the value of every signal of a session is computed.

    SESSION is an id, the beginning of one, or `latest`; TURN a number that `preheat replay` shows (default: the last).
    Each signal is shown with the numbers of its formula.
    """
    found, turn = open_archive().live.replay_turn(session)
    explained = found.explain(turn)
    if as_json:
        print_json(explained)
        return 0
    _show_explanation(console(), explained)
    return 0


def _show_explanation(screen: "Console", moment: Explanation) -> None:
    event = moment.event
    call = f", after `{one_line(clean(event.summary or event.tool), 80)}`" if isinstance(event, CallEvent) else ""
    at = f", {time_of_day(event.at)}" if event.at is not None else ""
    say(screen, f"Turn {moment.turn} of {moment.turns}{at}{call}", "bold")
    for reading in moment.readings:
        say(screen)
        state = "over its threshold" if reading.fired else ""
        head = f"{reading.signal}  {reading.value:.4g}".rstrip()
        say(screen, f"{head}{'  ' + state if state else ''}", "bold yellow" if reading.fired else "bold")
        for name, value in reading.facts.items():
            say(screen, f"  {clean(name):<{_LABEL}}  {clean(value)}")
        if reading.fired and reading.text:
            say(screen, f"  {'advisory':<{_LABEL}}  {clean(reading.text)}", "yellow")
    for advisory in moment.advisories:
        say(screen)
        say(screen, f"sent: {advisory_text(advisory)}", "bold yellow")
