"""Brings the archive up to date and says what was done: the whole of `preheat sync` but its options.

No click and no rich in here: a sync that finds one grown session should not pay for them. The work is in `preheat.app`.
"""

import sys
from typing import TYPE_CHECKING

from preheat.app import open as open_home
from preheat.cli.progress import Display
from preheat.cli.summary import exit_code, limit_lines, problem_lines, report_json, summary_lines
from preheat.cli.text import count

if TYPE_CHECKING:
    from preheat.app.sessions.archive import QuickLook, SyncReport
    from preheat.app.sessions.files import NamedFiles


def sync_archive(
    agents: tuple[str, ...], files: tuple[str, ...], quiet: bool, as_json: bool, seen: "QuickLook | None" = None
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
        from preheat.cli.screen import print_json  # noqa: PLC0415 - rich, which no plain sync waits for

        more = {"unrecognised_files": named.unrecognised, "unreadable_files": unreadable} if named else {}
        print_json({**report_json(report), **more})
    elif not quiet:
        _print_report(report, named)
    for line in [*limit_lines(unreadable), *problem_lines(report)]:
        print(line, file=sys.stderr)
    return max(exit_code(report), 1 if unreadable else 0)


def _print_report(report: "SyncReport", named: "NamedFiles | None") -> None:
    if named and not named.files:
        print("There is no session in these files.")
    else:
        print("\n".join(summary_lines(report)))
    if named and named.unrecognised:
        print(f"{count(named.unrecognised, 'other file')} skipped: not a session of an agent that Preheat knows.")
