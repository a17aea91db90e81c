"""People's approvals of lessons, by the ids of the lessons. Knows no lesson."""

import sqlite3

from preheat.model.lesson import Approval


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
