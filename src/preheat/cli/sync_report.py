"""A sync without click and rich, and its report in words and as JSON. Light, because every plain sync loads it.

Knows nothing of how sessions are read.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from preheat.app import open as open_home
from preheat.app.agents import agent_names, title_of
from preheat.cli.nothing_new import NO_SESSIONS_FOUND, describe_nothing_new
from preheat.cli.progress import Display
from preheat.cli.text import columns, count, duration, format_bytes, printable

if TYPE_CHECKING:
    from typing import Any

    from preheat.app.sessions.archive import AgentReport, QuickLook, SyncReport
    from preheat.app.sessions.sources import NamedFiles

# The report, in words and as JSON
MOST_PROBLEMS = 20
"""More are counted, not printed: `preheat admin doctor` lists all."""


def exit_code(report: SyncReport) -> int:
    """1 if something could not be read, else 0."""
    return 1 if report.failures or report.problems else 0


def summary_lines(report: SyncReport) -> list[str]:
    """What was read, by agent; one sentence if there was nothing to read."""
    read = {agent: row for agent, row in report.agents.items() if row.read}
    if not read:
        return [_describe_no_reading(report)]
    rows = [["", "files", "read", "sessions", "calls", "messages", "size", "problems"]]
    rows += [_row(title_of(agent), report.agents[agent]) for agent in agent_names() if agent in report.agents]
    if len(rows) > 2:
        rows.append(_row("all", _total(report)))
    total = _total(report)
    speed = (
        f", {format_bytes(total.bytes / report.seconds)}/s" if report.seconds > 0.05 and total.bytes > 5_000_000 else ""
    )
    lines = [*columns(rows), "", f"Read {format_bytes(total.bytes)} in {duration(report.seconds)}{speed}."]
    if report.redactions:
        kinds = ", ".join(f"{kind} {number:,}" for kind, number in _by_count(report.redactions))
        lines.append(f"Removed {count(sum(report.redactions.values()), 'secret')} before storing: {kinds}.")
    return lines


def server_lines(report: SyncReport) -> list[str]:
    """What the server that keeps the archive got, and what waits for it."""
    lines = []
    if report.moved:
        lines.append(f"Moved {count(report.moved, 'session')} that waited in the local archive to the server.")
    if report.waiting:
        lines.append(
            f"{count(report.waiting, 'session')} wait in the local archive; the next sync with the server moves them."
        )
    return lines


def _describe_no_reading(report: SyncReport) -> str:
    files = sum(row.files for row in report.agents.values())
    if report.failures:
        return f"Nothing was read: {count(len(report.failures), 'file')} could not be opened."
    if files == 0:
        return NO_SESSIONS_FOUND
    return describe_nothing_new(files)


def _row(title: str, report: AgentReport) -> list[str]:
    numbers = [report.files, report.read, report.sessions, report.calls, report.messages]
    problems = f"{report.problems:,}" if report.problems else ""
    return [title, *(f"{number:,}" for number in numbers), format_bytes(report.bytes), problems]


def _total(report: SyncReport) -> AgentReport:
    rows = list(report.agents.values())
    return type(rows[0])(*(sum(numbers) for numbers in zip(*rows, strict=True)))


def _by_count(redactions: dict[str, int]) -> list[tuple[str, int]]:
    return sorted(redactions.items(), key=lambda pair: (-pair[1], pair[0]))


def problem_lines(report: SyncReport) -> list[str]:
    """What could not be read, one line each with file and line number: for the error stream."""
    found = [f"{failure.path}: {failure.why}" for failure in report.failures]
    found += [problem_line(*problem) for problem in report.problems]
    return limit_lines(found)


def problem_line(path: str, line: int | None, why: str) -> str:
    """`path:line: why`, as compilers write it."""
    return f"{path}: {why}" if line is None else f"{path}:{line}: {why}"


def limit_lines(lines: list[str]) -> list[str]:
    """The first lines, and how many more there are."""
    shown = [printable(line) for line in lines[:MOST_PROBLEMS]]
    if len(lines) > len(shown):
        shown.append(f"and {len(lines) - len(shown):,} more; `preheat admin doctor` lists them")
    return shown


def report_json(report: SyncReport) -> dict[str, Any]:
    """The report for JSON."""
    return {
        "agents": {agent: row._asdict() for agent, row in report.agents.items()},
        "redactions": dict(_by_count(report.redactions)),
        "failures": [failure._asdict() for failure in report.failures],
        "problems": [{"path": path, "line": line, "message": why} for path, line, why in report.problems],
        "server": report.server,
        "moved": report.moved,
        "waiting": report.waiting,
        "seconds": round(report.seconds, 6),
    }


# The sync itself
def sync_archive(
    agents: tuple[str, ...], files: tuple[str, ...], quiet: bool, as_json: bool, seen: QuickLook | None = None
) -> int:
    """Sync the places of these agents (none: of all), or the named files and folders; returns the exit code.

    `seen` is what the quick path has already found in all places.
    """
    home = open_home()
    named = home.find_files(files, agents) if files else None
    with Display(quiet) as progress:
        report = home.sync(named.files if named else None, agents, progress, seen)
    unreadable = named.unreadable if named else []
    if as_json:
        from preheat.cli.screen import print_json  # noqa: PLC0415 - a plain sync does not wait for json

        more = {"unrecognised_files": named.unrecognised, "unreadable_files": unreadable} if named else {}
        print_json({**report_json(report), **more})
    elif not quiet:
        _print_report(report, named)
    if report.server:
        print(f"preheat: {printable(report.server)}", file=sys.stderr)
    for line in [*limit_lines(unreadable), *problem_lines(report)]:
        print(line, file=sys.stderr)
    return max(exit_code(report), 1 if unreadable else 0)


def _print_report(report: SyncReport, named: NamedFiles | None) -> None:
    if named and not named.files:
        print("There is no session in these files.")
    else:
        print("\n".join([*summary_lines(report), *server_lines(report)]))
    if named and named.unrecognised:
        print(f"{count(named.unrecognised, 'other file')} skipped: not a session of an agent that Preheat knows.")
