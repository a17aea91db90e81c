"""The stored records of assignments and ratings, without those of forgotten sessions; and their deletion.

Knows nothing of what they show. Light: `learn` always imports it.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple, Protocol, TypeVar

from preheat.archive.database import ArchiveConnection
from preheat.archive.source_list import forgotten_digest
from preheat.model.experiment import AdviceAssignment, Assignment, Delivery, Exposure, Rating
from preheat.state import experiments, migration
from preheat.state.connect import clean_up, reading, writing


class _SessionRecord(Protocol):
    @property
    def session(self) -> str: ...


_Record = TypeVar("_Record", bound=_SessionRecord)


class Records(NamedTuple):
    """All records of assignments and ratings."""

    assignments: list[Assignment]
    """In the order in which they were made."""
    deliveries: dict[str, Delivery]
    """By session, its first delivery."""
    exposures: list[Exposure]
    advice: list[AdviceAssignment]
    ratings: dict[str, Rating]


def has_assignments(folder: str) -> bool:
    """Whether anything was ever assigned."""
    with reading(folder) as state:
        return experiments.has_assignments(state)


def load_records(archive: ArchiveConnection) -> Records:
    """The records of all sessions that are not forgotten."""
    is_remembered = _memory_filter(archive)
    with reading(archive.folder) as state:
        return Records(
            _records_of(experiments.assignments(state), is_remembered),
            {each.session: each for each in _records_of(experiments.first_deliveries(state).values(), is_remembered)},
            _records_of(experiments.exposures(state), is_remembered),
            _records_of(experiments.advice_assignments(state), is_remembered),
            {each.session: each for each in _records_of(experiments.ratings(state).values(), is_remembered)},
        )


def load_exposures(archive: ArchiveConnection) -> list[Exposure]:
    """Which items each session was shown or not, by assignment."""
    with reading(archive.folder) as state:
        found = experiments.exposures(state)
    return _records_of(found, _memory_filter(archive)) if found else []


def forget_records(archive: ArchiveConnection) -> None:
    """Delete the records of sessions that the archive was made to forget."""
    folder, is_remembered = archive.folder, _memory_filter(archive)
    with reading(folder) as state:
        sessions = experiments.assigned_sessions(state) | experiments.ratings(state).keys()
    forgotten = [session for session in sessions if not is_remembered(session)]
    if forgotten:
        with writing(folder) as state:
            experiments.forget_assignments(state, forgotten)
            experiments.forget_ratings(state, forgotten)
        migration.forget_sessions(folder, forgotten)
        clean_up(folder)


def _records_of(found: Iterable[_Record], known: Callable[[str], bool]) -> list[_Record]:
    return [each for each in found if known(each.session)]


def _memory_filter(archive: ArchiveConnection) -> Callable[[str], bool]:
    """A function that says whether a session, by its key, is not forgotten."""
    digests = {row[0] for row in archive.execute("SELECT digest FROM forgotten")}
    return (lambda session: forgotten_digest(session) not in digests) if digests else (lambda session: True)
