"""`preheat status`: which agents call Preheat, from where, whether their programs do it, and when one last did.

Knows no agent's settings.
"""

import os
from typing import TYPE_CHECKING

import click

from preheat.app.machine.installation import AgentInstallStatus, InstallPlace, SelfTest, project_around
from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.home import open_preheat
from preheat.cli.screen import console, print_json, say
from preheat.cli.text import count, date_time, short_path

if TYPE_CHECKING:
    from rich.console import Console


@click.command(
    "status",
    cls=ExampleCommand,
    epilog="""\
  preheat status
  preheat status --json""",
)
@json_option
def status_command(as_json: bool) -> int:
    """Say which agents call Preheat, and whether it works.

    Looks at your own settings and at those of the project around this folder; changes and starts nothing.
    """
    found = open_preheat().installation.status(project_around(os.getcwd()))
    if as_json:
        print_json(found)
        return 0
    screen = console()
    for each in found.agents:
        _show_agent(screen, each)
    installed = any(each.places for each in found.agents)
    _show_test(screen, found.self_test, installed)
    if installed:
        say(screen, found.assignment)
    return 0


def _show_agent(screen: "Console", agent: AgentInstallStatus) -> None:
    if not agent.places:
        there = f"not installed; `preheat install {agent.agent}`" if agent.present else "not on this machine"
        say(screen, f"{agent.title}: {there}", "dim")
        return
    say(screen, agent.title, "bold")
    if agent.program:
        say(screen, f"  {short_path(agent.program)}")
    for place in agent.places:
        _show_place(screen, agent.agent, place)
    if agent.last_at is not None:
        say(screen, f"  last event {date_time(agent.last_at)} ({agent.last_event})")
    else:
        say(screen, "  no event yet")
    if agent.doubles:
        say(screen, f"  ! {count(len(agent.doubles), 'file')} call Preheat in the same session:", "yellow")
        for path in agent.doubles:
            say(screen, f"      {short_path(path)}")
        say(screen, f"    {agent.advice}")
    for note in agent.notes:
        say(screen, f"  {note}", "dim")


def _show_place(screen: "Console", agent: str, place: InstallPlace) -> None:
    what = count(len(place.events), "hook") if place.events else "plugin"
    if place.how:
        what += f" installed by `{place.how}`"
    posts = ", posted where the agent can" if place.posts else ""
    where = "this project" if place.scope == "project" else "all projects"
    say(screen, f"  {where}: {what}{posts} in {short_path(place.path)}")
    verdict = {"yes": "runs", "no": "does not run", "unknown": "may run"}[place.active]
    reason = f": {place.reason}" if place.reason else ""
    say(screen, f"    {verdict}{reason}", {"no": "red", "yes": "green"}.get(place.active, ""))
    if not place.current:
        option = " --project" if place.scope == "project" else f" --how {place.how}" if place.how else ""
        say(screen, f"    it is not what would be installed now; `preheat install {agent}{option}` updates it")


def _show_test(screen: "Console", tested: SelfTest, installed: bool) -> None:
    if tested.client == "missing" and not installed:
        say(screen, "Nothing is installed yet: `preheat install AGENT` has an agent call Preheat.")
    elif tested.client == "works":
        with_it = (
            "answered by the daemon" if tested.daemon == "running" else "no daemon runs; the next session starts one"
        )
        say(screen, f"Self-test: the hook client works ({tested.milliseconds:.0f} ms), {with_it}.", "green")
    else:
        say(screen, f"Self-test: the hook client does not work: {tested.why}", "red")
