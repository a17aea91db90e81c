"""People's ratings of sessions; the last one counts. Knows nothing of sessions."""

import sqlite3
from collections.abc import Iterable

from preheat.model.experiment import Rating


def keep_rating(connection: sqlite3.Connection, rating: Rating) -> None:
    """Store a rating in place of an earlier one."""
    connection.execute(
        "INSERT OR REPLACE INTO ratings (session, good, at, note) VALUES (?, ?, ?, ?)",
        (rating.session, rating.good, rating.at, rating.note),
    )


def ratings(connection: sqlite3.Connection) -> dict[str, Rating]:
    """All ratings, by session."""
    rows = connection.execute("SELECT session, good, at, note FROM ratings ORDER BY session")
    return {session: Rating(session=session, good=bool(good), at=at, note=note) for session, good, at, note in rows}


def forget_ratings(connection: sqlite3.Connection, sessions: Iterable[str]) -> None:
    """Delete the ratings of sessions."""
    connection.executemany("DELETE FROM ratings WHERE session = ?", [(each,) for each in sessions])
