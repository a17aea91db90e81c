"""How a lab goes on, on the error stream. Knows nothing of what it shows."""

import sys
from collections import Counter

from preheat.cli.progress import Bar
from preheat.lab.run import Watcher
from preheat.lab.state import Tried


class LabProgress(Watcher):
    """A bar on a terminal; elsewhere a line for each run, because each may take minutes."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self._bar: Bar | None = None
        self._runs = self._done = 0
        self._passed: Counter[str] = Counter()

    def begin(self, runs: int, done: int) -> None:
        self._runs, self._done = runs, done
        if done and not self._quiet:
            print(f"preheat: {done} of {runs} runs are over already", file=sys.stderr)
        self._bar = Bar("Lab", runs)
        self._bar.step(done)

    def ran(self, tried: Tried) -> None:
        self._done += 1
        self._passed[tried.arm] += tried.status == "passed"
        told = tried.status if tried.ending == "well" else f"{tried.status}, {tried.ending}"
        if self._bar is not None:
            counts = ", ".join(f"{arm} {number}" for arm, number in sorted(self._passed.items()))
            self._bar.step(1, f"{tried.task}: {told}  (passed: {counts})")
        if not sys.stderr.isatty() and not self._quiet:
            print(f"{self._done}/{self._runs} {tried.cell.id}: {told}, {tried.seconds:.0f} s", file=sys.stderr)

    def kept(self, folder: str) -> None:
        self.close()
        print(f"preheat: the folders of the runs are below `{folder}`", file=sys.stderr)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None
