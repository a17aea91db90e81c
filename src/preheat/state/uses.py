"""When a template was handed out. Knows no template, and not the task: only what makes it known again."""

import sqlite3

import msgspec

from preheat.model.template import Use


def record(connection: sqlite3.Connection, use: Use) -> None:
    """Note that a version was handed out."""
    texts = (use.template, use.context, use.agent, use.project, use.task)
    connection.execute(
        "INSERT OR IGNORE INTO uses (at, template, context, agent, project, task) VALUES (?, ?, ?, ?, ?, ?)",
        (use.at, *(text.encode("utf-8", "replace").decode() for text in texts)),
    )


def uses(connection: sqlite3.Connection) -> list[Use]:
    """Every use that was noted, in the order in which it was."""
    rows = connection.execute("SELECT at, template, context, agent, project, task FROM uses ORDER BY number")
    names = Use.__struct_fields__
    return [msgspec.convert(dict(zip(names, row, strict=True)), Use) for row in rows]
