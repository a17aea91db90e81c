"""What a person said of lessons, by their ids: pinned or retired. Outlives every learning. Knows no lesson."""

import sqlite3

from preheat.model.lesson import Mark, Marked


def marks(connection: sqlite3.Connection) -> dict[str, Marked]:
    """By lesson."""
    rows = connection.execute("SELECT lesson, mark, why, at FROM marks ORDER BY lesson")
    return {lesson: Marked(mark, why, at) for lesson, mark, why, at in rows}


def mark(connection: sqlite3.Connection, lesson: str, as_what: Mark | None, why: str, at: float) -> None:
    """Pin or retire a lesson; None takes the mark away."""
    if as_what is None:
        connection.execute("DELETE FROM marks WHERE lesson = ?", (lesson,))
    else:
        connection.execute(
            "INSERT OR REPLACE INTO marks (lesson, mark, why, at) VALUES (?, ?, ?, ?)", (lesson, as_what, why, at)
        )


def stamp(connection: sqlite3.Connection) -> tuple[int, float]:
    """Changes whenever a mark is set or taken away."""
    number, total = connection.execute("SELECT count(*), total(at) FROM marks").fetchone()
    return int(number), float(total)
