"""People's corrections of what belongs to which project. Knows no project."""

import sqlite3

from preheat.model.project import ProjectCorrection


def corrections(connection: sqlite3.Connection) -> list[ProjectCorrection]:
    """All corrections, in the order in which they were made."""
    rows = connection.execute("SELECT what, into_project, at FROM project_corrections ORDER BY at, what")
    return [ProjectCorrection(what=what, into=into, at=at) for what, into, at in rows]


def correct(connection: sqlite3.Connection, correction: ProjectCorrection) -> None:
    """Store a correction in place of an earlier one of the same thing."""
    connection.execute(
        "INSERT OR REPLACE INTO project_corrections (what, into_project, at) VALUES (?, ?, ?)",
        (correction.what, correction.into, correction.at),
    )


def withdraw_correction(connection: sqlite3.Connection, what: str) -> bool:
    """Remove a correction; whether there was one."""
    return connection.execute("DELETE FROM project_corrections WHERE what = ?", (what,)).rowcount > 0
