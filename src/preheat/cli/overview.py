"""The screen of plain `preheat`: what is on this machine, what the archive holds, and the next command to type."""

from typing import TYPE_CHECKING

from preheat import __version__
from preheat.cli.home import open_preheat
from preheat.cli.screen import console, print_json, say
from preheat.cli.text import columns, count, day, format_bytes, short_path
from preheat.model.health import AgentOverview, ArchiveSummary
from preheat.settings import data_folder

if TYPE_CHECKING:
    from rich.console import Console


def show_overview(as_json: bool) -> int:
    """Show what is on this machine and in the archive, and the next command to type."""
    found = open_preheat().overview()
    held, agents = found.archive, found.agents
    step = _next_step(held, agents)
    if as_json:
        print_json({"version": __version__, "agents": agents, "archive": held, "next": step[0]})
    else:
        _show_overview(held, [agent for agent in agents if agent.places], step)
    return 0


def _next_step(held: ArchiveSummary | None, agents: list[AgentOverview]) -> tuple[str, str]:
    """The command to type now, and what it does."""
    new, waiting = sum(agent.new for agent in agents), sum(agent.new_bytes for agent in agents)
    if new:
        return "preheat sync", f"read what is new: {count(new, 'file')}, {format_bytes(waiting)}"
    if held and held.sessions:
        return "preheat sessions list", "see the newest sessions"
    return "preheat demo", "see Preheat at work on sample sessions"


def _show_overview(held: ArchiveSummary | None, agents: list[AgentOverview], step: tuple[str, str]) -> None:
    screen = console()
    say(screen, f"Preheat {__version__} keeps the sessions of your coding agents.", "bold")
    say(screen)
    if any(agent.files for agent in agents):
        say(screen, "Sessions on this machine", "bold")
        rows = [[f"  {agent.title}", *_describe_agent(agent)] for agent in agents]
        for agent, line in zip(agents, columns(rows, left=3), strict=True):
            say(screen, line, "" if agent.files else "dim")
    else:
        say(screen, "No agent's sessions were found on this machine. Preheat looked in:")
        for agent in agents:
            for place in agent.places:
                say(screen, f"  {short_path(place)}  ({agent.title})")
    say(screen)
    _show_archive(screen, held)
    say(screen)
    more = [
        ["  preheat read FILE", "look into any session file"],
        ["  preheat sync FOLDER", "read sessions from elsewhere"],
    ]
    if held and held.sessions:
        more = [
            ["  preheat sessions search WORDS", "search messages and commands"],
            ["  preheat mistakes", "repeated mistakes, and what fixes them"],
            ["  preheat learn", "learn what works in your projects"],
            ['  preheat warm start --task "…"', "what a new session should know"],
        ]
    lines = columns([[f"  {step[0]}", step[1]], *more, ["  preheat --help", "all commands"]], left=2)
    say(screen, "Next", "bold")
    say(screen, lines[0], "green")
    for line in lines[1:]:
        say(screen, line)


def _describe_agent(agent: AgentOverview) -> list[str]:
    if not agent.files:
        return ["none", f"looked in {', '.join(map(short_path, agent.places))}"]
    news = f"{agent.new:,} new or changed" if agent.new else "all in the archive"
    return [count(agent.files, "file"), news]


def _show_archive(screen: "Console", held: ArchiveSummary | None) -> None:
    if held is None:
        say(screen, f"Archive: none yet; it will be in {short_path(data_folder())}")
        return
    span = f", {day(held.first)} to {day(held.last)}" if held.first is not None and held.last is not None else ""
    say(screen, f"Archive: {count(held.sessions, 'session')}, {count(held.calls, 'call')}{span}")
    say(screen, f"  {short_path(held.path)}, {format_bytes(held.bytes)}", "dim")
