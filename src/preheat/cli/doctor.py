"""The command `preheat admin doctor`: what is on this machine, and what is wrong.

Changes nothing, except that `--repair` replaces a damaged archive and `--secrets` takes out what must not be stored.
"""

from typing import TYPE_CHECKING

import click

from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.home import open_preheat
from preheat.cli.progress import Display
from preheat.cli.repair_report import repair_archive
from preheat.cli.screen import console, print_json, say
from preheat.cli.sync_report import problem_line
from preheat.cli.text import columns, count, date_time, format_bytes, printable, short_path

if TYPE_CHECKING:
    from rich.console import Console

    from preheat.model.health import AgentHealth, HealthReport, PlaceHealth, SecretsReport


# `preheat admin doctor`
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
  preheat admin doctor
  preheat admin doctor --verify          also check every byte of the archive against its hash
  preheat admin doctor --full            list every line that could not be read
  preheat admin doctor --repair          save what is whole of a damaged archive
  preheat admin doctor --secrets         take secrets out of what is stored, by today's rules
  preheat admin doctor --secrets --dry-run
  preheat admin doctor --json | jq .findings""",
)
@click.option("--verify", is_flag=True, help="Check every byte of the archive against its hash.")
@click.option("--full", is_flag=True, help="List every line that could not be read.")
@click.option("--repair", is_flag=True, help="Save what is whole of a damaged archive or state into a new one.")
@click.option(
    "--secrets", is_flag=True, help="Take out, for good, the secrets that today's rules find in what is stored."
)
@click.option("--dry-run", is_flag=True, help="With `--repair` or `--secrets`: say what would be done, change nothing.")
@json_option
def doctor_command(verify: bool, full: bool, repair: bool, secrets: bool, dry_run: bool, as_json: bool) -> int:
    """Check the agents' folders and the archive, and say what is wrong.

    Looks at every place where an agent keeps sessions, and at the archive; changes nothing, unless `--repair` or `--secrets` is
    asked for. The exit code is 1 if something is wrong, or if a repair could not save everything.
    """
    if dry_run and not (repair or secrets):
        raise click.UsageError("`--dry-run` belongs to `--repair` and `--secrets`")
    if repair and secrets:
        raise click.UsageError("`--repair` and `--secrets` are two jobs; repair first")
    if repair:
        return repair_archive(dry_run, as_json)
    if secrets:
        return _remove_secrets(dry_run, as_json)
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


def _remove_secrets(dry_run: bool, as_json: bool) -> int:
    with Display() as progress:
        found = open_preheat().health.remove_secrets(dry_run, progress)
    if as_json:
        print_json(found)
    else:
        _show_secrets(console(), found)
    return 1 if found.left else 0


def _show_secrets(screen: "Console", found: "SecretsReport") -> None:
    """How many of which kind, and where; never a value."""
    if not found.sessions and not found.elsewhere:
        say(screen, "No secrets were found in what is stored.")
        return
    action = "Took out" if found.removed else "Would take out"
    number = count(sum(found.kinds.values()), "secret")
    say(screen, f"{action} {number} of {count(len(found.sessions), 'session')}", "bold")
    for place, kinds in (*found.sessions.items(), *found.elsewhere.items()):
        listed = ", ".join(f"{kind} {number:,}" for kind, number in sorted(kinds.items()))
        say(screen, f"  {printable(place)}: {listed}")
    for line in found.left:
        say(screen, f"  left: {printable(line)}", "red")


def _show_agents(screen: "Console", found: "HealthReport") -> None:
    say(screen, "Agents", "bold")
    rows = [["  agent", "state", "files", "to read", "newest", "sessions kept", "kept after deletion"]]
    rows += [_agent_row(agent) for agent in found.agents]
    used = [any(row[place] for row in rows[1:]) for place in range(len(rows[0]))]  # empty columns only take room
    rows = [[cell for cell, is_used in zip(row, used, strict=True) if is_used] for row in rows]
    for index, line in enumerate(columns(rows, left=2)):
        say(screen, line, "" if index and found.agents[index - 1].state == "found" else "dim")
    say(screen)
    say(screen, "Places searched", "bold")
    places = [place for agent in found.agents for place in agent.places]
    rows = [[f"  {short_path(place.path)}", _describe_place(place)] for place in places]
    for place, line in zip(places, columns(rows, left=2), strict=True):
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
    if archive.is_server:
        say(
            screen,
            f"  on a server; {format_bytes(archive.bytes)}{share}" if archive.schema else "  on a server: see below",
        )
    else:
        say(screen, f"  {format_bytes(archive.bytes)}{share}; {format_bytes(archive.free_bytes)} free on the disk")
    if archive.schema:
        say(screen, f"  schema {archive.schema}, {count(sum(archive.redactions.values()), 'secret')} removed")
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
    if found.untrusted:
        say(screen, printable(found.untrusted), "yellow")
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
