"""Progress bars on the error stream, for long work on a terminal only.

No thread draws them (each step redraws): a sync forks its reading processes, and forking beside threads is not safe.
"""

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

from preheat.app.sessions import Watcher
from preheat.cli.interrupts import Interrupts
from preheat.cli.text import count, size

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from preheat.ingest.changes import Change
    from preheat.ingest.sync import Result

WORTH_IT = 8 * 1000 * 1000
"""Below so many bytes it is over before a bar is drawn."""
_PAUSE = 0.1


class Bar:
    """One bar with a text beside it; nothing at all if the error stream is no terminal."""

    def __init__(self, title: str, total: float) -> None:
        self._progress: Progress | None = None  # noqa: F823
        self._drawn = 0.0
        if not sys.stderr.isatty():
            return
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        from preheat.cli.screen import console

        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[note]}"),
            TimeRemainingColumn(compact=True),
            TextColumn("left"),
            console=console(stderr=True),
            auto_refresh=False,
            transient=True,
        )
        self._task: TaskID = self._progress.add_task(title, total=max(1.0, total), note="")
        self._progress.start()

    def step(self, amount: float, note: str = "") -> None:
        """So much further; drawn a few times a second at most."""
        if self._progress is None:
            return
        self._progress.update(self._task, advance=amount, note=note)
        if time.monotonic() - self._drawn > _PAUSE:
            self._drawn = time.monotonic()
            self._progress.refresh()

    def close(self) -> None:
        """Take the bar off the screen."""
        if self._progress is not None:
            self._progress.stop()
            self._progress = None


class SyncProgress(Watcher):
    """Shows how a sync goes on (sessions, MB/s, time left), and stops it between two sources when the person says so."""

    def __init__(self, interrupts: Interrupts, quiet: bool) -> None:
        self._interrupts = interrupts
        self._quiet = quiet
        self._bar: Bar | None = None
        self._left: dict[str, int] = {}
        self._started = 0.0
        self._bytes = 0
        self._sessions = 0

    def __enter__(self) -> "SyncProgress":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()  # also after an interruption: the cursor must come back

    def waiting(self) -> None:
        if not self._quiet:
            print("preheat: another sync is at work; waiting for it", file=sys.stderr)

    def begin(self, changes: "list[Change]") -> None:
        self._interrupts.postponed = True
        self._left = {change.found.path: change.found.size for change in changes}
        self._started = time.monotonic()
        total = sum(self._left.values())
        if total >= WORTH_IT and not self._quiet:
            self._bar = Bar("Reading", total)

    def done(self, result: "Result") -> None:
        self._interrupts.check()
        if self._bar is None:
            return
        path, delta = result.delta.path, result.delta
        # A grown file is read from where the last sync stopped, but its share of the bar is the whole of it.
        share = min(delta.size, self._left.get(path, 0)) if delta.part else self._left.get(path, 0)
        self._left[path] = self._left.get(path, 0) - share
        self._bytes += delta.size
        self._sessions += result.sessions
        elapsed = time.monotonic() - self._started
        speed = f"{size(self._bytes / elapsed)}/s" if elapsed > 0 else ""
        self._bar.step(share, f"{count(self._sessions, 'session')}  {speed}")

    def end(self) -> None:
        self._interrupts.postponed = False
        self._close()

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None
