"""Lessons that a person read and approved, by their ids. Knows no lesson."""

import sqlite3

from preheat.model.lesson import Approval


def approvals(connection: sqlite3.Connection) -> dict[str, Approval]:
    """By lesson."""
    rows = connection.execute("SELECT lesson, digest, why, at FROM approvals ORDER BY lesson")
    return {row[0]: Approval(*row) for row in rows}


def approve(connection: sqlite3.Connection, approval: Approval) -> None:
    """Keep an approval, in the place of an earlier one."""
    connection.execute(
        "INSERT OR REPLACE INTO approvals (lesson, digest, why, at) VALUES (?, ?, ?, ?)",
        (approval.lesson, approval.digest, approval.why, approval.at),
    )


def withdraw_approval(connection: sqlite3.Connection, lesson: str) -> bool:
    """Take an approval back; whether there was one."""
    return connection.execute("DELETE FROM approvals WHERE lesson = ?", (lesson,)).rowcount > 0
