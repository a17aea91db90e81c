"""The template version that is loaded for each project, and when templates were handed out. Knows no template."""

import sqlite3

import msgspec

from preheat.model.template import TemplatePin, TemplateUse


# The template version that is loaded for each project, by the project's folder.
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


# When templates were handed out.
def record_use(connection: sqlite3.Connection, use: TemplateUse) -> None:
    """Record that a version was handed out."""
    texts = (use.template, use.context, use.agent, use.project, use.task)
    connection.execute(
        "INSERT OR IGNORE INTO uses (at, template, context, agent, project, task) VALUES (?, ?, ?, ?, ?, ?)",
        (use.at, *(text.encode("utf-8", "replace").decode() for text in texts)),
    )


def uses(connection: sqlite3.Connection) -> list[TemplateUse]:
    """All recorded uses, the oldest first."""
    rows = connection.execute("SELECT at, template, context, agent, project, task FROM uses ORDER BY number")
    names = TemplateUse.__struct_fields__
    return [msgspec.convert(dict(zip(names, row, strict=True)), TemplateUse) for row in rows]
