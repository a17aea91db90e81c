"""Has the learners take notes of the sessions of the archive that they have not noted as they are now.

Knows nothing of what they note: that is handed over. As in `judging.py` no lock is held, and a run can be killed at any
moment: what was stored is whole, the rest is noted by the next one.
"""

import sqlite3
from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

import msgspec

from preheat.archive import notes
from preheat.archive.judged import Gathered, Pending, Unjudged
from preheat.archive.lessons import Place
from preheat.archive.notes import Page, Written
from preheat.archive.writer import writing
from preheat.ingest.rereading import Unreadable, over_groups, reread
from preheat.model.session import Session


class About(NamedTuple):
    """What a noter is told of a session beside its events."""

    place: Place
    copied: frozenset[int]


class Noter(NamedTuple):
    """How to take notes. The function goes to other processes by its name: it must stand at the top of a module."""

    learners: dict[str, int]
    """Names and versions of those who take them."""
    take: Callable[[Session, About, tuple[str, ...]], list[Page]]


class Found(NamedTuple):
    """What became of a group."""

    written: list[Written]
    failures: list[Unreadable]


_FOUND = msgspec.msgpack.Decoder(Found)


def run(
    connection: sqlite3.Connection,
    noter: Noter,
    pending: Pending,
    places: Mapping[str, Place],
    on_noted: Callable[[str], None],
) -> list[Unreadable]:
    """Take notes of what is pending; each session is told by its key when its notes are safe in the archive."""
    wanted = [session.session_id for group in pending.groups for unit in group for session in unit.sessions]
    work = partial(note_group, noter, dict(places), notes.copied(connection, wanted))
    failures: list[Unreadable] = []
    for found in over_groups(connection, pending, work, _FOUND):
        with writing(connection):
            stored = notes.store(connection, found.written)
        failures += found.failures
        for key in stored:
            on_noted(key)
    return failures


def note_group(noter: Noter, places: dict[str, Place], copied: dict[int, list[int]], group: Gathered) -> Found:
    """Take notes of the sessions of some sources. Never raises for anything about one of them."""

    def noted_one(of: Unjudged, session: Session) -> Written:
        place = places.get(session.project) or Place(session.project, session.project, "")
        about = About(place, frozenset(copied.get(of.session_id, ())))
        return Written(of, noter.take(session, about, tuple(noter.learners)))

    return Found(*reread(group, noted_one, "learners"))
