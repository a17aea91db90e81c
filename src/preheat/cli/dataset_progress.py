"""How a dataset is made or looked through, on the error stream. Knows nothing of what is done."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from preheat.app.dataset_survey import SurveyWatcher
from preheat.cli.progress import Bar
from preheat.cli.text import count


@contextmanager
def steps() -> Iterator[SurveyWatcher]:
    """Shows each step while it lasts."""
    shown = _Steps()
    try:
        yield shown
    finally:
        shown.end()  # also after an interruption: the cursor must come back


def warn_of_unread(sessions: int) -> None:
    """Say how much of the archive could not be asked for names."""
    if sessions:
        told = f"{count(sessions, 'session')} of the archive cannot be read"
        print(f"preheat: {told}; names that only they tell were not looked for (see `preheat doctor`)", file=sys.stderr)


class _Steps(SurveyWatcher):
    """A bar for each step on a terminal; elsewhere a line, because each may take a minute."""

    def __init__(self) -> None:
        self._bar: Bar | None = None

    def begin(self, title: str, amount: int, unit: str, aim: str = "") -> None:
        self._bar = Bar(title, amount)
        if not sys.stderr.isatty():
            print(f"preheat: {title.lower()} {count(amount, unit)} {aim}".rstrip(), file=sys.stderr, flush=True)

    def done(self) -> None:
        if self._bar is not None:
            self._bar.step(1)

    def end(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None
