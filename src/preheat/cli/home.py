"""The application object as commands use it: in the person's own folder, with or without an archive that must be there.

Knows nothing of what the commands do with it.
"""

import sys

from preheat.app import Preheat
from preheat.app import open as open_home
from preheat.cli.progress import Display
from preheat.cli.summary import problem_lines
from preheat.cli.text import count, printable
from preheat.errors import UserError

_A_MOMENT = 2.0
"""Seconds after which nothing more is begun."""


def home() -> Preheat:
    """Preheat in its usual folder; there may be no archive in it yet."""
    return open_home()


def archived() -> Preheat:
    """The same; the archive must be there already. Where an agent's program asks, its new sessions are read first: quietly,
    but for what went wrong."""
    found = open_home()
    if found.caller():
        with Display() as progress:
            report = found.read_callers_sessions(progress)
        for line in problem_lines(report) if report else ():
            print(line, file=sys.stderr)
    if not found.has_archive():
        raise UserError(f"there is no archive in `{found.folder}` yet; `preheat sync` makes one")
    return found


def up_to_date() -> Preheat:
    """The same, after what has changed was analysed as far as that takes a moment: a list does not wait for a whole archive."""
    found = archived()
    if found.archive.count_unanalysed():
        with Display(quiet=True) as progress:
            found.analyse(progress, _A_MOMENT, need="rows")
    return found


def analysed() -> Preheat:
    """The same, after what is new in the archive was analysed."""
    found = archived()
    with Display() as progress:
        report = found.analyse(progress, need="rows")
    for failure in report.failures[:3]:
        print(f"preheat: left out: {printable(failure.key)}: {printable(failure.why)}", file=sys.stderr)
    if len(report.failures) > 3:
        print(f"preheat: left out {count(len(report.failures), 'session')} that cannot be read", file=sys.stderr)
    if report.outdated:
        text = f"{count(report.outdated, 'session')} analysed by an earlier version; `preheat learn` renews that"
        print(f"preheat: {text}", file=sys.stderr)
    return found
