"""Opens the archive with every session judged, and shows how the judging goes on when it takes a while.

Knows nothing of what is asked afterwards.
"""

import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from preheat.app.analysis import JudgeWatcher, judge_archive
from preheat.cli.options import archive
from preheat.cli.progress import Bar
from preheat.cli.text import count, printable
from preheat.settings import data_folder

WORTH_IT = 50
"""Below so many sessions it is over before a bar is drawn."""


class JudgeProgress(JudgeWatcher):
    """A bar over the sessions."""

    def __init__(self) -> None:
        self._bar: Bar | None = None
        self._calls = 0

    def begin(self, sessions: int) -> None:
        if sessions >= WORTH_IT:
            self._bar = Bar("Judging", sessions)

    def done(self, key: str, calls: int) -> None:
        self._calls += calls
        if self._bar is not None:
            self._bar.step(1, count(self._calls, "call"))

    def end(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


@contextmanager
def judged_archive() -> Iterator[sqlite3.Connection]:
    """The archive, which must be there already, after judging what is new in it."""
    with archive() as connection:
        progress = JudgeProgress()
        try:
            report = judge_archive(data_folder(), progress)
        finally:
            progress.end()  # also after an interruption: the cursor must come back
        for failure in report.failures[:3]:
            print(f"preheat: left out: {printable(failure.key)}: {printable(failure.why)}", file=sys.stderr)
        if len(report.failures) > 3:
            print(f"preheat: left out {count(len(report.failures), 'session')} that cannot be read", file=sys.stderr)
        yield connection
