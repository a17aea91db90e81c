"""Lots that stand in the journal only, until they are on disk for good: the journal forgets.

Knows nothing of what a lot decides, nor where it is kept.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from preheat.model.experiment import Lot
from preheat.model.journal import Entry


class Owed:
    """What could not be written yet is written with the next ones."""

    def __init__(self, keep: Callable[[Sequence[Lot]], None]) -> None:
        self._keep = keep
        self._lots: list[Lot] = []

    def noted(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        """The same entries: of their lots nobody knows whether they were kept."""
        for entry in entries:
            self._lots += entry.lots
            yield entry

    def settle(self, lots: Sequence[Lot]) -> str:
        """Keep what is owed and these; why that failed, or nothing."""
        self._lots += lots
        try:
            self._keep(self._lots)
        except OSError as error:
            return f"the lots of a trial cannot be written down: {error.strerror or error}"
        self._lots.clear()
        return ""
