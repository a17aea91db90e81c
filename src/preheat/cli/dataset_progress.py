"""How a dataset is made or looked through, on the error stream. Knows nothing of what is done."""

import sys
from types import TracebackType

from preheat.cli.progress import Bar
from preheat.cli.text import count
from preheat.model.progress import Progress, ProgressUnit

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
            f"preheat: {unread}; names that occur only there were not searched for (see `preheat doctor`)",
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
