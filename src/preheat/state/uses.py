"""When templates were handed out. Knows no template, and of the task only its hash."""

import sqlite3

import msgspec

from preheat.model.template import TemplateUse


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
