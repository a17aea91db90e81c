"""Assignments that are only in the journal and still have to be stored, because old journal files are removed. Knows no trial."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from preheat.model.experiment import AssignmentRecord
from preheat.model.live import JournalEntry


class PendingAssignments:
    """Assignments that could not be stored yet are stored with the next ones."""

    def __init__(self, store_all: Callable[[Sequence[AssignmentRecord]], None]) -> None:
        self._store = store_all
        self._pending: list[AssignmentRecord] = []

    def collect(self, entries: Iterable[JournalEntry]) -> Iterator[JournalEntry]:
        """Pass entries through and collect their assignments, which may not be stored yet."""
        for entry in entries:
            self._pending += entry.assignments
            yield entry

    def store(self, assignments: Sequence[AssignmentRecord]) -> str:
        """Store the pending assignments and these; why that failed, or an empty text."""
        self._pending += assignments
        try:
            self._store(self._pending)
        except OSError as error:
            return f"the assignments of a trial cannot be written: {error.strerror or error}"
        self._pending.clear()
        return ""
