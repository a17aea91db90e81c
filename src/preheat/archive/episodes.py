"""Loads the episodes of sessions. Storing is in `analyses.py`.

Knows nothing of how episodes are made.
"""

import sqlite3

import msgspec

from preheat.archive.packing import decompress
from preheat.model.episode import Episode

_EPISODES = msgspec.msgpack.Decoder(tuple[Episode, ...])


def load_episodes(connection: sqlite3.Connection, key: str) -> tuple[Episode, ...]:
    """The episodes of a session, in their order; none where it has not been analysed."""
    row = connection.execute(
        "SELECT episodes.data FROM episodes JOIN sessions ON sessions.id = episodes.session_id WHERE sessions.key = ?",
        (key,),
    ).fetchone()
    return _EPISODES.decode(decompress(row[0])) if row else ()
