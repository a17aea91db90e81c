"""What the analysis of each session left for learning: notes of the learners, and episodes. Plain SQL, as in `writer.py`.

Knows nothing of what the notes say. Storing is in `analyses.py`.
"""

from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from typing import NamedTuple

import msgspec

from preheat.archive.database import ArchiveConnection
from preheat.archive.packing import Decompressor, SmallCompressor, decode_stored, decompress
from preheat.archive.rows import NoteRow
from preheat.model.analysis import Episode
from preheat.model.orientation import PastEpisode

_AT_ONCE = 500
"""Parameters of one query; SQLite allows 999."""
_LONGEST_PLAIN = 400
"""Bytes: shorter notes are not worth compressing."""


class StoredNotes(NamedTuple):
    """Notes of a learner, with the session's heading."""

    session: str
    agent: str
    project: str
    """The name of its project; empty if it has none."""
    started_at: float | None
    ended_at: float | None
    data: bytes


def make_note_row(learner: str, version: int, data: bytes, packer: SmallCompressor) -> NoteRow:
    """The row of a learner's notes; `data` is empty where there are none. The first byte says whether the rest is compressed."""
    stamp = int.from_bytes(blake2b(data, digest_size=7).digest(), "big")
    if not data:
        return NoteRow(learner, version, stamp, None)
    return NoteRow(
        learner, version, stamp, b"\0" + data if len(data) < _LONGEST_PLAIN else b"\1" + packer.compress(data)
    )


def load_note_stamps(connection: ArchiveConnection, learner: str) -> Iterator[tuple[str, int, int, float | None]]:
    """For every session with notes of a learner: its project's name, its id, a hash of the notes, and when it ended."""
    yield from connection.execute(
        "SELECT coalesce(projects.name, ''), notes.session_id, notes.stamp, sessions.ended_at FROM notes "
        "JOIN sessions ON sessions.id = notes.session_id "
        "LEFT JOIN places ON places.session_id = sessions.id LEFT JOIN projects ON projects.key = places.project "
        "WHERE notes.learner = ? AND notes.data IS NOT NULL ORDER BY notes.session_id",
        (learner,),
    )


_NOTES_OF_SESSIONS = (
    "SELECT sessions.key, sessions.agent, coalesce(projects.name, ''), sessions.started_at, sessions.ended_at, notes.data "
    "FROM notes JOIN sessions ON sessions.id = notes.session_id "
    "LEFT JOIN places ON places.session_id = sessions.id LEFT JOIN projects ON projects.key = places.project "
    "WHERE notes.session_id IN ({}) AND notes.learner = ? "
    "AND notes.data IS NOT NULL ORDER BY notes.session_id"
)


def load_notes(connection: ArchiveConnection, learner: str, sessions: Iterable[int]) -> Iterator[StoredNotes]:
    """A learner's notes on these sessions, ordered by session id."""
    wanted = sorted(sessions)
    unpack = Decompressor().decompress
    for start in range(0, len(wanted), _AT_ONCE):
        some = wanted[start : start + _AT_ONCE]
        marks = ", ".join("?" * len(some))
        for *heading, data in connection.execute(_NOTES_OF_SESSIONS.format(marks), (*some, learner)).fetchall():
            yield StoredNotes._make((*heading, unpack_notes(data, unpack)))


def unpack_notes(packed: bytes, unpack: Callable[[bytes], bytes]) -> bytes:
    """Undo the packing of `make_note_row`."""
    return packed[1:] if packed[:1] == b"\0" else unpack(packed[1:])


_NOTES_BY_KEY = (
    "SELECT sessions.key, notes.data FROM notes JOIN sessions ON sessions.id = notes.session_id "
    "WHERE sessions.key IN ({}) AND notes.learner = ? AND notes.version = ? AND notes.data IS NOT NULL"
)


def load_session_notes(
    connection: ArchiveConnection, keys: Iterable[str], learner: str, version: int
) -> dict[str, bytes]:
    """The notes of a learner in this version by the key of the session, of those of these sessions that have some."""
    wanted = sorted(set(keys))
    unpack = Decompressor().decompress
    found: dict[str, bytes] = {}
    for start in range(0, len(wanted), _AT_ONCE):
        some = wanted[start : start + _AT_ONCE]
        query = _NOTES_BY_KEY.format(", ".join("?" * len(some)))
        found |= {key: unpack_notes(data, unpack) for key, data in connection.execute(query, (*some, learner, version))}
    return found


def count_sessions_by_folder(connection: ArchiveConnection) -> dict[str, int]:
    """The number of sessions by the folder in which they were started."""
    return dict(connection.execute("SELECT project, count(*) FROM sessions GROUP BY project ORDER BY project"))


# Episodes.
_EPISODES = msgspec.msgpack.Decoder(tuple[Episode, ...])


def load_episodes(connection: ArchiveConnection, key: str) -> tuple[Episode, ...]:
    """The episodes of a session, in their order; none where it has not been analysed."""
    row = connection.execute(
        "SELECT episodes.data FROM episodes JOIN sessions ON sessions.id = episodes.session_id WHERE sessions.key = ?",
        (key,),
    ).fetchone()
    return decode_stored(_EPISODES, decompress(row[0])) if row else ()


_OF_PROJECT = (
    "SELECT sessions.key, sessions.branch, episodes.data FROM episodes JOIN sessions ON sessions.id = episodes.session_id "
    "JOIN places ON places.session_id = sessions.id WHERE places.project = ? ORDER BY sessions.ended_at DESC NULLS LAST LIMIT ?"
)


def load_project_episodes(connection: ArchiveConnection, project: str, most_sessions: int) -> list[PastEpisode]:
    """The episodes of a project's last sessions, given its key."""
    unpack = Decompressor().decompress
    found: list[PastEpisode] = []
    for key, branch, data in connection.execute(_OF_PROJECT, (project, most_sessions)):
        found += [PastEpisode(key, branch or "", each) for each in decode_stored(_EPISODES, unpack(data))]
    return found
