"""`preheat status`: which agents call Preheat, from where, whether their programs do it, and when one last did.

Knows no agent's settings.
"""

import os
from typing import TYPE_CHECKING

import click

from preheat.cli.options import Examples, json_option
from preheat.cli.text import count, moment, short_path
from preheat.settings import data_folder

if TYPE_CHECKING:
    from rich.console import Console

    from preheat.installing.standing import Place, SelfTest, Standing


@click.command(
    cls=Examples,
    epilog="""\
  preheat status
  preheat status --json""",
)
@json_option
def command(as_json: bool) -> int:
    """Say which agents call Preheat, and whether it works.

    Looks at your own settings and at those of the project around this folder; changes nothing, starts nothing.
    """
    from preheat.app.assignment import told
    from preheat.cli.install import project_here
    from preheat.cli.screen import console, print_json, say
    from preheat.installing.standing import self_test, standings

    folder = data_folder()
    found = standings(folder, os.environ, project_here())
    tested = self_test(folder)
    if as_json:
        print_json({"agents": found, "self_test": tested, "lots": told(folder)})
        return 0
    screen = console()
    for each in found:
        _show(screen, each)
    _show_test(screen, tested, any(each.places for each in found))
    if any(each.places for each in found):
        say(screen, told(folder))
    return 0


def _show(screen: "Console", standing: "Standing") -> None:
    from preheat.cli.screen import say

    if not standing.places:
        there = f"not installed; `preheat install {standing.agent}`" if standing.present else "not on this machine"
        say(screen, f"{standing.title}: {there}", "dim")
        return
    say(screen, standing.title, "bold")
    if standing.program:
        say(screen, f"  {short_path(standing.program)}")
    for place in standing.places:
        _show_place(screen, standing.agent, place)
    if standing.last_at is not None:
        say(screen, f"  last heard of {moment(standing.last_at)} ({standing.last_event})")
    else:
        say(screen, "  not heard of yet")
    if standing.doubles:
        say(screen, f"  ! {count(len(standing.doubles), 'file')} call Preheat in the same session:", "yellow")
        for path in standing.doubles:
            say(screen, f"      {short_path(path)}")
        say(screen, f"    {standing.advice}")
    for note in standing.notes:
        say(screen, f"  {note}", "dim")


def _show_place(screen: "Console", agent: str, place: "Place") -> None:
    from preheat.cli.screen import say

    what = count(len(place.events), "hook") if place.events else "plugin"
    if place.how:
        what += f" by way of `{place.how}`"
    posts = ", posted where the agent can" if place.posts else ""
    where = "this project" if place.scope == "project" else "all projects"
    say(screen, f"  {where}: {what}{posts} in {short_path(place.path)}")
    verdict = {"yes": "runs", "no": "does not run", "unknown": "may run"}[place.active]
    reason = f": {place.reason}" if place.reason else ""
    say(screen, f"    {verdict}{reason}", {"no": "red", "yes": "green"}.get(place.active, ""))
    if not place.current:
        option = " --project" if place.scope == "project" else f" --how {place.how}" if place.how else ""
        say(
            screen, f"    it is not what would be installed now; `preheat install {agent}{option}` brings it up to date"
        )


def _show_test(screen: "Console", tested: "SelfTest", installed: bool) -> None:
    from preheat.cli.screen import say

    if tested.client == "missing" and not installed:
        say(screen, "Nothing is installed yet: `preheat install AGENT` has an agent call Preheat.")
    elif tested.client == "works":
        with_it = (
            "answered by the daemon" if tested.daemon == "running" else "no daemon runs; the next session starts one"
        )
        say(screen, f"Self-test: the hook client works ({tested.milliseconds:.0f} ms), {with_it}.", "green")
    else:
        say(screen, f"Self-test: the hook client does not work: {tested.why}", "red")
