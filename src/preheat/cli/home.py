"""Opens the application object for commands, in the person's own folder; some ways also need the archive, or analyse it.

Knows nothing of what the commands do with it.
"""

import sys

from preheat.app import Preheat
from preheat.app import open as open_home
from preheat.cli.progress import Display
from preheat.cli.sync_report import problem_lines
from preheat.cli.text import count, printable
from preheat.errors import UserError

_SECONDS = 2.0
"""How long a list waits for the analysis."""


def open_preheat() -> Preheat:
    """Preheat in its usual folder; there need not be an archive yet."""
    return open_home()


def open_archive() -> Preheat:
    """Preheat with an archive, which must exist. When an agent runs the command, its new sessions are read first; only
    problems are printed."""
    found = open_home()
    if found.calling_agent():
        with Display() as progress:
            report = found.sync_calling_agent(progress)
        for line in problem_lines(report) if report else ():
            print(line, file=sys.stderr)
    if not found.has_archive():
        raise UserError(f"there is no archive in `{found.folder}` yet; `preheat sync` makes one")
    return found


def open_archive_for_list() -> Preheat:
    """Preheat with an archive, after up to two seconds of analysing what changed: a list does not wait for a whole archive."""
    found = open_archive()
    if found.archive.count_unanalysed():
        with Display(quiet=True) as progress:
            found.analyse(progress, _SECONDS, need="rows")
    return found


def open_analysed_archive() -> Preheat:
    """Preheat with an archive whose sessions are all analysed; prints which could not be."""
    found = open_archive()
    with Display() as progress:
        report = found.analyse(progress, need="rows")
    for failure in report.failures[:3]:
        print(f"preheat: left out: {printable(failure.key)}: {printable(failure.why)}", file=sys.stderr)
    if len(report.failures) > 3:
        print(f"preheat: left out {count(len(report.failures), 'session')} that cannot be read", file=sys.stderr)
    if report.outdated:
        text = (
            f"{count(report.outdated, 'session')} analysed by an earlier version; `preheat lessons learn` renews that"
        )
        print(f"preheat: {text}", file=sys.stderr)
    return found
