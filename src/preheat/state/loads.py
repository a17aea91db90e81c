"""Which template the new sessions of a project start with, by the project's folder. Knows no template."""

import sqlite3

from preheat.model.template import Pin


def loads(connection: sqlite3.Connection) -> dict[str, Pin]:
    """What is loaded."""
    rows = connection.execute("SELECT project, name, digest, at FROM loads ORDER BY project")
    return {project: Pin(name, digest, at) for project, name, digest, at in rows}


def load(connection: sqlite3.Connection, project: str, pin: Pin) -> None:
    """New sessions of a project start with this version from now on."""
    connection.execute(
        "INSERT OR REPLACE INTO loads (project, name, digest, at) VALUES (?, ?, ?, ?)",
        (project.encode("utf-8", "replace").decode(), pin.name, pin.digest, pin.at),
    )


def unload(connection: sqlite3.Connection, project: str) -> Pin | None:
    """New sessions of a project start with what was learned again. What was loaded."""
    pin = loads(connection).get(project)
    if pin is not None:
        connection.execute("DELETE FROM loads WHERE project = ?", (project,))
    return pin
