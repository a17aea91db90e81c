"""Progress of long work on the error stream.

Knows nothing of the work. No thread draws the bars (each step redraws), because a sync forks its workers, and forking beside
threads is not safe.
"""

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

from preheat.cli.text import count, format_bytes, printable
from preheat.model.progress import Progress, ProgressUnit

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID


# Bars
_WORTH_A_BAR: dict[ProgressUnit, float] = {"bytes": 8e6, "sessions": 50, "steps": 20}
"""Less work is done before a bar could be drawn."""
_PAUSE = 0.1


class Bar:
    """One bar with a text beside it; draws nothing if the error stream is not a terminal."""

    def __init__(self, title: str, total: float) -> None:
        self._bars: Bars | None = None
        self._drawn = 0.0
        if not sys.stderr.isatty():
            return
        self._bars = _bars()
        self._task: TaskID = self._bars.add_task(title, total=max(1.0, total), note="")
        self._bars.start()

    def step(self, amount: float, note: str = "") -> None:
        """Advance; redrawn a few times a second at most."""
        if self._bars is None:
            return
        self._bars.update(self._task, advance=amount, note=note)
        if time.monotonic() - self._drawn > _PAUSE:
            self._drawn = time.monotonic()
            self._bars.refresh()

    def close(self) -> None:
        """Remove the bar from the screen."""
        if self._bars is not None:
            self._bars.stop()
            self._bars = None


def _bars() -> "Bars":
    from rich import progress  # noqa: PLC0415 - a plain sync of little must not wait for rich

    from preheat.cli.screen import console  # noqa: PLC0415 - rich, too

    return progress.Progress(
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.TaskProgressColumn(),
        progress.TextColumn("{task.fields[note]}"),
        progress.TimeRemainingColumn(compact=True),
        progress.TextColumn("left"),
        console=console(stderr=True),
        auto_refresh=False,
        transient=True,
    )


class Display(Progress):
    """Shows the progress of long work as a bar.

    Enter it around the work, so that the cursor comes back also after an interruption.
    """

    def __init__(self, quiet: bool = False) -> None:
        self._quiet = quiet
        self._bar: Bar | None = None
        self._unit: ProgressUnit = "steps"
        self._started = 0.0
        self._done = 0.0

    def __enter__(self) -> "Display":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def wait(self, reason: str) -> None:
        if not self._quiet:
            print(f"preheat: {reason}; waiting for it", file=sys.stderr)

    def begin(self, work: str, total: float, unit: ProgressUnit = "steps") -> None:
        self.end()
        self._unit, self._started, self._done = unit, time.monotonic(), 0.0
        if total >= _WORTH_A_BAR[unit] and not self._quiet:
            self._bar = Bar(work, total)

    def advance(self, amount: float = 1, note: str = "") -> None:
        if self._bar is None:
            return
        self._done += amount
        elapsed = time.monotonic() - self._started
        speed = f"{format_bytes(self._done / elapsed)}/s" if self._unit == "bytes" and elapsed > 0 else ""
        self._bar.step(amount, "  ".join(part for part in (note, speed) if part))

    def end(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


# Steps of a dataset
_AIMS = {
    "Reading": ("session", "for the names in them"),
    "Writing": ("session", "as trajectories"),
    "Searching": ("file", "for names, addresses, paths and secrets"),
}
"""For each kind of work: what is counted, and what it is done for."""


def warn_of_unread(sessions: int) -> None:
    """Print how many sessions could not be searched for names."""
    if sessions:
        unread = f"{count(sessions, 'session')} of the archive cannot be read"
        print(
            f"preheat: {unread}; names that occur only there were not searched for (see `preheat admin doctor`)",
            file=sys.stderr,
        )


class StepProgress(Progress):
    """The steps of a dataset: a bar each on a terminal, a line each elsewhere, because a step may take a minute.

    Enter it around the work, so that the cursor comes back also after an interruption.
    """

    def __init__(self) -> None:
        self._bar: Bar | None = None

    def __enter__(self) -> "StepProgress":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def begin(self, work: str, total: float, unit: ProgressUnit = "steps") -> None:
        self._bar = Bar(work, total)
        if not sys.stderr.isatty():
            noun, aim = _AIMS.get(work, ("step", ""))
            print(f"preheat: {work.lower()} {count(int(total), noun)} {aim}".rstrip(), file=sys.stderr, flush=True)

    def advance(self, amount: float = 1, note: str = "") -> None:
        if self._bar is not None:
            self._bar.step(amount, note)

    def end(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


# Runs of agents' programs
class RunProgress(Progress):
    """Runs of agents' programs: a bar on a terminal, a line for each run elsewhere, because a run may take minutes. An
    interruption ends a run at once.

    Enter it around the work, so that the cursor comes back also after an interruption.
    """

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self._bar: Bar | None = None
        self._total = self._done = 0.0

    def __enter__(self) -> "RunProgress":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def begin(self, work: str, total: float, unit: ProgressUnit = "steps") -> None:
        self._total, self._done = total, 0.0
        self._bar = Bar(work, total)

    def advance(self, amount: float = 1, note: str = "") -> None:
        self._done += amount
        if self._bar is not None:
            self._bar.step(amount, note)
        if not sys.stderr.isatty() and not self._quiet:
            print(f"{self._done:.0f}/{self._total:.0f} {printable(note)}", file=sys.stderr, flush=True)

    def end(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None
