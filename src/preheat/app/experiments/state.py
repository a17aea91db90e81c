"""What was drawn and rated, of the sessions that the archive beside it was not made to forget; and how that is forgotten.

Knows nothing of what it shows. Light: every learning starts with it.
"""

import sqlite3
from collections.abc import Callable, Iterable
from typing import NamedTuple, Protocol, TypeVar

from preheat.archive.connect import folder_of
from preheat.archive.forgotten import digest_of
from preheat.model.experiment import AdviceLot, Assignment, Delivery, Rating
from preheat.model.exposure import Exposure
from preheat.state import assignments, migration, ratings
from preheat.state.connect import clean_up, reading, writing


class _OfSession(Protocol):
    @property
    def session(self) -> str: ...


_Each = TypeVar("_Each", bound=_OfSession)


class Drawn(NamedTuple):
    """All of it."""

    assignments: list[Assignment]
    """In the order in which they were made."""
    deliveries: dict[str, Delivery]
    """By session, what it was first given."""
    exposures: list[Exposure]
    advice: list[AdviceLot]
    ratings: dict[str, Rating]


def any_drawn(folder: str) -> bool:
    """Whether anything was ever drawn."""
    with reading(folder) as state:
        return assignments.any_drawn(state)


def drawn(archive: sqlite3.Connection) -> Drawn:
    """What was drawn and rated."""
    known = _not_forgotten(archive)
    with reading(folder_of(archive)) as state:
        return Drawn(
            _only(assignments.assignments(state), known),
            {each.session: each for each in _only(assignments.first_deliveries(state).values(), known)},
            _only(assignments.exposures(state), known),
            _only(assignments.advice(state), known),
            {each.session: each for each in _only(ratings.ratings(state).values(), known)},
        )


def exposures(archive: sqlite3.Connection) -> list[Exposure]:
    """Which items a session was given or spared by chance."""
    with reading(folder_of(archive)) as state:
        found = assignments.exposures(state)
    return _only(found, _not_forgotten(archive)) if found else []


def forget(archive: sqlite3.Connection) -> None:
    """Take away what was drawn and said of sessions that the archive was made to forget."""
    folder, known = folder_of(archive), _not_forgotten(archive)
    with reading(folder) as state:
        sessions = assignments.sessions(state) | ratings.ratings(state).keys()
    gone = [session for session in sessions if not known(session)]
    if gone:
        with writing(folder) as state:
            assignments.forget(state, gone)
            ratings.forget(state, gone)
        migration.forget(folder, gone)
        clean_up(folder)


def _only(found: Iterable[_Each], known: Callable[[str], bool]) -> list[_Each]:
    return [each for each in found if known(each.session)]


def _not_forgotten(archive: sqlite3.Connection) -> Callable[[str], bool]:
    """Says of a session, by its key, whether the archive was not made to forget it."""
    gone = {row[0] for row in archive.execute("SELECT digest FROM forgotten")}
    return (lambda session: digest_of(session) not in gone) if gone else (lambda session: True)
