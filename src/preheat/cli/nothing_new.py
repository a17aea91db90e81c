"""What a sync prints when nothing is new. A module of its own, because the quickest sync loads nothing else.

Knows no agent.
"""

from __future__ import annotations

from preheat.cli.text import count

_NUMBERS = ("files", "read", "sessions", "calls", "messages", "bytes", "problems")
NO_SESSIONS_FOUND = (
    "No sessions were found where the agents keep them (`preheat admin doctor` shows where that is). "
    "`preheat sync FOLDER` reads them from another place; `preheat demo` shows samples."
)


def describe_nothing_new(files: int) -> str:
    """The sentence for a sync that has nothing to read."""
    return f"Nothing new: {count(files, 'file')} looked at, all in the archive already."


def print_nothing_new(counts: dict[str, int], arguments: list[str]) -> None:
    """Print the report of the quick path; `counts` has the number of files of each agent."""
    if "--json" in arguments:
        import json  # noqa: PLC0415 - seldom wanted, and the quickest path there is

        rows = {agent: dict.fromkeys(_NUMBERS, 0) | {"files": files} for agent, files in counts.items()}
        report = {
            "agents": rows, "redactions": {}, "failures": [], "problems": [],
            "server": "", "moved": 0, "waiting": 0, "seconds": 0.0,
        }  # fmt: skip
        print(json.dumps(report, indent=2))
    elif not arguments:
        print(describe_nothing_new(sum(counts.values())) if counts else NO_SESSIONS_FOUND)
