"""People's marks on lessons, by the ids of the lessons: pinned or retired. Learning does not change them. Knows no lesson."""

import sqlite3

from preheat.model.lesson import LessonMark, MarkKind


def marks(connection: sqlite3.Connection) -> dict[str, LessonMark]:
    """All marks, by lesson."""
    rows = connection.execute("SELECT lesson, mark, why, at FROM marks ORDER BY lesson")
    return {lesson: LessonMark(mark, why, at) for lesson, mark, why, at in rows}


def set_mark(connection: sqlite3.Connection, lesson: str, mark: MarkKind | None, why: str, at: float) -> None:
    """Pin or retire a lesson; None removes the mark."""
    if mark is None:
        connection.execute("DELETE FROM marks WHERE lesson = ?", (lesson,))
    else:
        connection.execute(
            "INSERT OR REPLACE INTO marks (lesson, mark, why, at) VALUES (?, ?, ?, ?)", (lesson, mark, why, at)
        )


def marks_stamp(connection: sqlite3.Connection) -> tuple[int, float]:
    """A value that changes whenever a mark is set or removed."""
    number, total = connection.execute("SELECT count(*), total(at) FROM marks").fetchone()
    return int(number), float(total)
