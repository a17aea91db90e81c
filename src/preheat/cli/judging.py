"""Opens the archive with every session judged, and shows how the judging goes on when it takes a while.

Knows nothing of what is asked afterwards.
"""

import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from preheat.app.analysis import analyse_archive
from preheat.cli.options import archive
from preheat.cli.progress import Display
from preheat.cli.text import count, printable
from preheat.settings import data_folder


@contextmanager
def judged_archive() -> Iterator[sqlite3.Connection]:
    """The archive, which must be there already, after judging what is new in it."""
    with archive() as connection:
        with Display() as progress:
            report = analyse_archive(data_folder(), progress, need="outcomes")
        for failure in report.failures[:3]:
            print(f"preheat: left out: {printable(failure.key)}: {printable(failure.why)}", file=sys.stderr)
        if len(report.failures) > 3:
            print(f"preheat: left out {count(len(report.failures), 'session')} that cannot be read", file=sys.stderr)
        yield connection
