"""How runs of agents' programs go on, on the error stream: those of a lab and of a training. Knows nothing of what they show."""

import sys
from types import TracebackType

from preheat.cli.progress import Bar
from preheat.cli.text import printable
from preheat.model.progress import Progress, ProgressUnit


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
