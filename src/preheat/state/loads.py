"""The template version that is loaded for each project, by the project's folder. Knows no template."""

import sqlite3

from preheat.model.template import TemplatePin


def loads(connection: sqlite3.Connection) -> dict[str, TemplatePin]:
    """The loaded versions, by project."""
    rows = connection.execute("SELECT project, name, digest, at FROM loads ORDER BY project")
    return {project: TemplatePin(name, digest, at) for project, name, digest, at in rows}


def load_version(connection: sqlite3.Connection, project: str, pin: TemplatePin) -> None:
    """Load a version for a project, in place of an earlier one."""
    connection.execute(
        "INSERT OR REPLACE INTO loads (project, name, digest, at) VALUES (?, ?, ?, ?)",
        (project.encode("utf-8", "replace").decode(), pin.name, pin.digest, pin.at),
    )


def unload_version(connection: sqlite3.Connection, project: str) -> TemplatePin | None:
    """Unload the version of a project; the version, None if there was none."""
    pin = loads(connection).get(project)
    if pin is not None:
        connection.execute("DELETE FROM loads WHERE project = ?", (project,))
    return pin
