"""Assignments that are only in the journal and still have to be stored, because old journal files are removed.

Knows nothing of what an assignment decides, nor where it is stored.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from preheat.model.experiment import Lot
from preheat.model.journal import Entry


class Owed:
    """Assignments that could not be stored yet are stored with the next ones."""

    def __init__(self, store_all: Callable[[Sequence[Lot]], None]) -> None:
        self._store = store_all
        self._pending: list[Lot] = []

    def noted(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        """Pass entries through and collect their assignments, which may not be stored yet."""
        for entry in entries:
            self._pending += entry.lots
            yield entry

    def settle(self, lots: Sequence[Lot]) -> str:
        """Store the pending assignments and these; why that failed, or an empty text."""
        self._pending += lots
        try:
            self._store(self._pending)
        except OSError as error:
            return f"the assignments of a trial cannot be written: {error.strerror or error}"
        self._pending.clear()
        return ""
