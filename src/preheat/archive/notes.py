"""Keeps what the learners noted of each session, and knows which sessions they have not noted as they are now.

Plain SQL, as in `writer.py`. Knows nothing of what the notes say. Everything that writes happens inside a transaction that
the caller holds (`writing`).
"""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from typing import NamedTuple

from preheat.archive.judged import ORDERED, SOURCED, Pending, Unjudged, as_it_was, grouped
from preheat.archive.packing import compress, decompress

_LONGEST_PLAIN = 400
"""Bytes: shorter notes are not worth compressing."""


class Page(NamedTuple):
    """What one learner kept of one session; `data` is empty if nothing."""

    learner: str
    version: int
    data: bytes


class Written(NamedTuple):
    """The notes of a session, as it was read."""

    of: Unjudged
    pages: list[Page]


class Kept(NamedTuple):
    """Notes out of the archive, with the session's heading."""

    session: str
    agent: str
    folder: str
    started_at: float | None
    ended_at: float | None
    data: bytes


_DUE = f"""{SOURCED}
JOIN judgements ON judgements.session_id = sessions.id AND judgements.source_id = sessions.source_id
     AND judgements.generation = sessions.generation AND judgements.events = sessions.events
WHERE sessions.starter NOT IN ('background', 'preheat') AND sessions.messages > 0 AND (
    SELECT count(*) FROM notes WHERE notes.session_id = sessions.id AND notes.learner || ' ' || notes.version IN ({{}})
) < ?
{ORDERED}"""  # noqa: S608 - made of our own constants


def due(connection: sqlite3.Connection, learners: Mapping[str, int]) -> Pending:
    """The judged sessions of which one of these learners (with its version) has no notes. Sessions that another tool, or
    Preheat itself, ran for its own ends teach nothing."""
    names = [f"{name} {version}" for name, version in learners.items()]
    marks = ", ".join("?" * len(names))
    return grouped(connection.execute(_DUE.format(marks), (*names, len(names))))


def copied(connection: sqlite3.Connection, sessions: Iterable[int]) -> dict[int, list[int]]:
    """By session, the places of calls that stand in another session too, and count there."""
    wanted = set(sessions)
    found: dict[int, list[int]] = {}
    for session, seq in connection.execute("SELECT session_id, seq FROM calls INDEXED BY calls_copied WHERE copied"):
        if session in wanted:
            found.setdefault(session, []).append(seq)
    return found


def store(connection: sqlite3.Connection, written: Iterable[Written]) -> list[str]:
    """Keep notes in the place of earlier ones; the keys of those sessions come back that still are what was noted."""
    kept = [each for each in written if as_it_was(connection, each.of) and _is_judged(connection, each.of)]
    connection.executemany(
        "INSERT OR REPLACE INTO notes (session_id, learner, version, stamp, data) VALUES (?, ?, ?, ?, ?)",
        (
            (each.of.session_id, page.learner, page.version, _stamp(page.data), _packed(page.data))
            for each in kept
            for page in each.pages
        ),
    )
    return [each.of.key for each in kept]


def _is_judged(connection: sqlite3.Connection, of: Unjudged) -> bool:
    question = "SELECT 1 FROM judgements WHERE session_id = ?"
    return connection.execute(question, (of.session_id,)).fetchone() is not None


def _stamp(data: bytes) -> int:
    return int.from_bytes(blake2b(data, digest_size=7).digest(), "big")


def _packed(data: bytes) -> bytes | None:
    """The first byte says whether the rest is compressed."""
    if not data:
        return None
    return b"\0" + data if len(data) < _LONGEST_PLAIN else b"\1" + compress(data)


def _unpacked(packed: bytes) -> bytes:
    return packed[1:] if packed[:1] == b"\0" else decompress(packed[1:])


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
    "JOIN sessions ON sessions.id = notes.session_id WHERE notes.session_id = ? AND notes.learner = ?"
)


def kept(connection: sqlite3.Connection, learner: str, sessions: Iterable[int]) -> Iterator[Kept]:
    """What a learner has of these sessions."""
    for session in sessions:
        row = connection.execute(_KEPT, (session, learner)).fetchone()
        if row is not None and row[5] is not None:
            yield Kept._make((*row[:5], _unpacked(row[5])))


_OF_SESSION = (
    "SELECT notes.data FROM notes JOIN sessions ON sessions.id = notes.session_id "
    "WHERE sessions.key = ? AND notes.learner = ? AND notes.version = ?"
)


def of_session(connection: sqlite3.Connection, key: str, learner: str, version: int) -> bytes:
    """What a learner of this version has of one session; empty where that is nothing."""
    row = connection.execute(_OF_SESSION, (key, learner, version)).fetchone()
    return _unpacked(row[0]) if row is not None and row[0] is not None else b""


def folders(connection: sqlite3.Connection) -> dict[str, int]:
    """Where sessions ran, with how many did."""
    return dict(connection.execute("SELECT project, count(*) FROM sessions GROUP BY project ORDER BY project"))
