"""`preheat doctor`: says what is found where, what cannot be read and why, and how the archive is. Changes nothing."""

from typing import TYPE_CHECKING

import click

from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.home import open_preheat
from preheat.cli.progress import Display
from preheat.cli.screen import console, print_json, say
from preheat.cli.summary import problem_line
from preheat.cli.text import columns, count, date_time, format_bytes, printable, short_path

if TYPE_CHECKING:
    from rich.console import Console

    from preheat.model.health import AgentHealth, HealthReport, PlaceHealth

_MOST = 50
_ENOUGH_BYTES = 5_000_000
"""Below this the archive's size as a share of its sources says nothing: an empty archive has a size, too."""
_STATES = {
    "missing": "not here",
    "empty": "no sessions",
    "unreadable": "cannot be read",
    "import only": "import only",
}


@click.command(
    "doctor",
    cls=ExampleCommand,
    epilog="""\
  preheat doctor
  preheat doctor --verify          also check every byte of the archive against its hash
  preheat doctor --full            list every line that could not be read
  preheat doctor --json | jq .findings""",
)
@click.option("--verify", is_flag=True, help="Check every byte of the archive against its hash.")
@click.option("--full", is_flag=True, help="List every line that could not be read.")
@json_option
def doctor_command(verify: bool, full: bool, as_json: bool) -> int:
    """Check the agents' folders and the archive, and say what is wrong.

    Looks at every place where an agent keeps sessions, and at the archive; changes nothing. The exit code is 1 if something is
    wrong.
    """
    with Display() as progress:
        found = open_preheat().health.examine(None if full else _MOST, verify, progress)
    if as_json:
        print_json(found)
    else:
        screen = console()
        _show_agents(screen, found)
        _show_archive_health(screen, found)
        _show_problems(screen, found)
    return 1 if found.findings or found.problem_count else 0


def _show_agents(screen: "Console", found: "HealthReport") -> None:
    say(screen, "Agents", "bold")
    rows = [["  agent", "state", "files", "to read", "newest", "sessions kept", "kept after deletion"]]
    rows += [_agent_row(agent) for agent in found.agents]
    for index, line in enumerate(columns(rows, left=2)):
        say(screen, line, "" if index and found.agents[index - 1].state == "found" else "dim")
    say(screen)
    say(screen, "Places searched", "bold")
    places = [(agent, place) for agent in found.agents for place in agent.places]
    rows = [
        [
            f"  {short_path(place.path)}",
            _describe_place(place),
        ]
        for _, place in places
    ]
    for (_, place), line in zip(places, columns(rows, left=2), strict=True):
        say(screen, line, {"missing": "dim", "unreadable": "red"}.get(place.state, ""))
    say(screen)


def _describe_place(place: "PlaceHealth") -> str:
    if place.state != "found":
        return _STATES[place.state]
    return f"{count(place.files, 'file')}, {format_bytes(place.bytes)}" if place.files else "no sessions"


def _agent_row(agent: "AgentHealth") -> list[str]:
    kept = f"{agent.held.sessions:,}" if agent.held else ""
    return [
        f"  {agent.title}",
        _STATES.get(agent.state, agent.state),
        f"{agent.files:,}" if agent.files else "",
        f"{agent.waiting:,}" if agent.waiting else "",
        date_time(agent.newest) if agent.newest else "",
        kept,
        count(agent.gone, "file") if agent.gone else "",
    ]


def _show_archive_health(screen: "Console", found: "HealthReport") -> None:
    archive = found.archive
    say(screen, "Archive", "bold")
    if not archive.exists:
        say(screen, f"  none yet; `preheat sync` makes it at {short_path(archive.path)}")
        say(screen)
        return
    share = (
        f", {archive.bytes / archive.source_bytes:.0%} of the {format_bytes(archive.source_bytes)} it holds"
        if archive.source_bytes > _ENOUGH_BYTES
        else ""
    )
    say(screen, f"  {short_path(archive.path)}")
    say(screen, f"  {format_bytes(archive.bytes)}{share}; {format_bytes(archive.free_bytes)} free on the disk")
    if archive.schema:
        say(screen, f"  schema {archive.schema}, {count(sum(archive.redactions.values()), 'secret')} taken out")
    if archive.verified is not None:
        say(
            screen,
            "  every byte is as it was stored" if archive.verified else "  damaged: see below",
            "green" if archive.verified else "red",
        )
    say(screen)


def _show_problems(screen: "Console", found: "HealthReport") -> None:
    for finding in found.findings:
        say(screen, f"! {printable(finding)}", "red")
    if found.problem_count:
        say(
            screen,
            f"{count(found.problem_count, 'place')} in the transcripts could not be read; the rest was:",
            "bold",
        )
        for trouble in found.problems:
            say(screen, f"  {printable(problem_line(short_path(trouble.path), trouble.line, trouble.message))}")
        if len(found.problems) < found.problem_count:
            say(screen, f"  and {found.problem_count - len(found.problems):,} more; `--full` lists them", "dim")
    if not found.findings and not found.problem_count:
        waiting = sum(agent.waiting for agent in found.agents)
        say(
            screen,
            "Nothing is wrong." + (f" `preheat sync` reads {count(waiting, 'new file')}." if waiting else ""),
            "green",
        )
