"""What a person thought of sessions; the last word counts. Knows nothing of what a session is."""

import sqlite3
from collections.abc import Iterable

from preheat.model.experiment import Rating


def rate(connection: sqlite3.Connection, rating: Rating) -> None:
    """Keep a rating in the place of an earlier one."""
    connection.execute(
        "INSERT OR REPLACE INTO ratings (session, good, at, note) VALUES (?, ?, ?, ?)",
        (rating.session, rating.good, rating.at, rating.note),
    )


def ratings(connection: sqlite3.Connection) -> dict[str, Rating]:
    """By session."""
    rows = connection.execute("SELECT session, good, at, note FROM ratings ORDER BY session")
    return {session: Rating(session=session, good=bool(good), at=at, note=note) for session, good, at, note in rows}


def forget(connection: sqlite3.Connection, sessions: Iterable[str]) -> None:
    """Take away what was said of sessions."""
    connection.executemany("DELETE FROM ratings WHERE session = ?", [(each,) for each in sessions])
