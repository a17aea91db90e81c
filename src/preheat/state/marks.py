"""People's marks on lessons (pinned, retired) and approvals of lessons, by the ids of the lessons. Knows no lesson."""

import sqlite3

from preheat.model.lesson import Approval, LessonMark, MarkKind


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


# People's approvals of lessons, by the ids of the lessons.
def approvals(connection: sqlite3.Connection) -> dict[str, Approval]:
    """All approvals, by lesson."""
    rows = connection.execute("SELECT lesson, digest, why, at FROM approvals ORDER BY lesson")
    return {row[0]: Approval(*row) for row in rows}


def approve(connection: sqlite3.Connection, approval: Approval) -> None:
    """Store an approval in place of an earlier one."""
    connection.execute(
        "INSERT OR REPLACE INTO approvals (lesson, digest, why, at) VALUES (?, ?, ?, ?)",
        (approval.lesson, approval.digest, approval.why, approval.at),
    )


def withdraw_approval(connection: sqlite3.Connection, lesson: str) -> bool:
    """Remove an approval; whether there was one."""
    return connection.execute("DELETE FROM approvals WHERE lesson = ?", (lesson,)).rowcount > 0
