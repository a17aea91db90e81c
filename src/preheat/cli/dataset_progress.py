"""Bars for going over the archive: one for reading, one for writing. Knows nothing of what is done."""

from preheat.cli.progress import Bar
from preheat.pipeline.surveying import SurveyWatcher


class Bars(SurveyWatcher):
    """A bar for each part of the work."""

    def __init__(self) -> None:
        self._bar: Bar | None = None

    def begin(self, title: str, sessions: int) -> None:
        self._bar = Bar(title, sessions)

    def done(self, note: str = "") -> None:
        if self._bar is not None:
            self._bar.step(1, note)

    def end(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None
