"""What the learners noted of each session, packed for the archive and given back. Plain SQL, as in `writer.py`.

Knows nothing of what the notes say. Storing is in `analyses.py`, with all that is made of a session.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from typing import NamedTuple

from preheat.archive.packing import SmallPacker, Unpacker, decompress
from preheat.archive.rows import NoteRow

_AT_ONCE = 500
"""Names in one question; SQLite allows 999."""
_LONGEST_PLAIN = 400
"""Bytes: shorter notes are not worth compressing."""


class Kept(NamedTuple):
    """Notes out of the archive, with the session's heading."""

    session: str
    agent: str
    folder: str
    started_at: float | None
    ended_at: float | None
    data: bytes


def row_of(learner: str, version: int, data: bytes, packer: SmallPacker) -> NoteRow:
    """Notes as they are stored; `data` is empty where there are none. The first byte says whether the rest is compressed."""
    stamp = int.from_bytes(blake2b(data, digest_size=7).digest(), "big")
    if not data:
        return NoteRow(learner, version, stamp, None)
    return NoteRow(learner, version, stamp, b"\0" + data if len(data) < _LONGEST_PLAIN else b"\1" + packer.pack(data))


def stamps(connection: sqlite3.Connection, learner: str) -> Iterator[tuple[str, int, int, float | None]]:
    """Of every session that a learner has notes of: its folder, its number, their hash, and when it ended."""
    return connection.execute(
        "SELECT sessions.project, notes.session_id, notes.stamp, sessions.ended_at FROM notes "
        "JOIN sessions ON sessions.id = notes.session_id "
        "WHERE notes.learner = ? AND notes.data IS NOT NULL ORDER BY notes.session_id",
        (learner,),
    )


_KEPT = (
    "SELECT sessions.key, sessions.agent, sessions.project, sessions.started_at, sessions.ended_at, notes.data FROM notes "
    "JOIN sessions ON sessions.id = notes.session_id WHERE notes.session_id IN ({}) AND notes.learner = ? "
    "AND notes.data IS NOT NULL ORDER BY notes.session_id"
)


def kept(connection: sqlite3.Connection, learner: str, sessions: Iterable[int]) -> Iterator[Kept]:
    """What a learner has of these sessions, in the order of their numbers."""
    wanted = sorted(sessions)
    unpack = Unpacker().unpack
    for start in range(0, len(wanted), _AT_ONCE):
        some = wanted[start : start + _AT_ONCE]
        marks = ", ".join("?" * len(some))
        for *heading, data in connection.execute(_KEPT.format(marks), (*some, learner)).fetchall():
            yield Kept._make((*heading, _unpacked(data, unpack)))


def _unpacked(packed: bytes, unpack: Callable[[bytes], bytes]) -> bytes:
    """The first byte says whether the rest is compressed."""
    return packed[1:] if packed[:1] == b"\0" else unpack(packed[1:])


_OF_SESSION = (
    "SELECT notes.data FROM notes JOIN sessions ON sessions.id = notes.session_id "
    "WHERE sessions.key = ? AND notes.learner = ? AND notes.version = ?"
)


def of_session(connection: sqlite3.Connection, key: str, learner: str, version: int) -> bytes:
    """What a learner of this version has of one session; empty where that is nothing."""
    row = connection.execute(_OF_SESSION, (key, learner, version)).fetchone()
    return _unpacked(row[0], decompress) if row is not None and row[0] is not None else b""


def folders(connection: sqlite3.Connection) -> dict[str, int]:
    """Where sessions ran, with how many did."""
    return dict(connection.execute("SELECT project, count(*) FROM sessions GROUP BY project ORDER BY project"))
