"""`preheat why`: the arithmetic of every signal at one turn of a session. Nothing is measured here."""

import click
from rich.console import Console

from preheat.app.live.watching import Explanation
from preheat.cli.home import archived
from preheat.cli.options import Examples, SessionName, json_option
from preheat.cli.screen import clean, console, print_json, say
from preheat.cli.text import clock, one_line
from preheat.cli.timeline import said
from preheat.model.live import Called

_LABEL = 38


@click.command(
    "why",
    cls=Examples,
    epilog="""\
  preheat why latest                             after the last turn
  preheat why 0f3c1a2b:12                        after turn 12
  preheat why 0f3c1a2b:12 --json | jq '.readings[] | select(.fired)'""",
)
@click.argument("session", type=SessionName(), metavar="SESSION[:TURN]")
@json_option
def why_command(session: str, as_json: bool) -> int:
    """Show how every signal of a session comes to its value.

    SESSION is an id, the beginning of one, or `latest`; TURN a number that `preheat replay` shows (the last one unless
    given). Each signal stands with the numbers that its formula takes.
    """
    found, turn = archived().watching.replay_turn(session)
    explained = found.explain(turn)
    if as_json:
        print_json(explained)
        return 0
    _show(console(), explained)
    return 0


def _show(screen: Console, moment: Explanation) -> None:
    event = moment.event
    done = f", after `{one_line(clean(event.summary or event.tool), 80)}`" if isinstance(event, Called) else ""
    at = f", {clock(event.at)}" if event.at is not None else ""
    say(screen, f"Turn {moment.turn} of {moment.turns}{at}{done}", "bold")
    for reading in moment.readings:
        say(screen)
        state = "over its threshold" if reading.fired else ""
        head = f"{reading.signal}  {reading.value:.4g}".rstrip()
        say(screen, f"{head}{'  ' + state if state else ''}", "bold yellow" if reading.fired else "bold")
        for name, value in reading.facts.items():
            say(screen, f"  {clean(name):<{_LABEL}}  {clean(value)}")
        if reading.fired and reading.text:
            say(screen, f"  {'would say':<{_LABEL}}  {clean(reading.text)}", "yellow")
    for advisory in moment.advisories:
        say(screen)
        say(screen, f"told: {said(advisory)}", "bold yellow")
