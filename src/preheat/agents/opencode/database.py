"""OpenCode's database, read-only: which sessions are in it, and each one's rows written out as lines.

Columns are looked up, not assumed: the schema grows with every release. Knows nothing of what the rows mean.

A line is `{"table": name, "row": columns}`: the session, then each message followed by its parts, and `end`.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from preheat.agents.databases import (
    columns_of,
    digest_of,
    first_row,
    line_of,
    open_read_only,
    record_of,
    require_columns,
    rows,
)
from preheat.agents.parsing import decode_json
from preheat.agents.reader import DatabasePart

_NEEDED = {
    "session": {"id"},
    "message": {"id", "session_id", "data"},
    "part": {"id", "message_id", "session_id", "data"},
}
_DISTINCTIVE = {"session": {"project_id", "directory", "slug"}}
"""Further columns by which the database is recognised as OpenCode's."""
_NEWER_TABLE = "session_message"
"""Meant to replace `message` and `part`; still empty in 1.18."""
_TABLES = (*_NEEDED, _NEWER_TABLE)
_STAMP = ("title", "parent_id", "revert", "version", "tokens_input", "tokens_output", "time_updated", "time_archived")


def list_database(path: str) -> list[DatabasePart]:
    """The sessions, each with a stamp. Rows are rewritten in place, so the time of the newest change is part of the stamp."""
    with open_read_only(path) as database:
        columns = _require_columns(database)
        known: dict[str, list[Any]] = {}
        names = [name for name in _STAMP if name in columns["session"]]
        for row in rows(database, f"SELECT id, {', '.join(names or ['id'])} FROM session"):  # noqa: S608
            known[str(row[0])] = [*row[1:]]
        for table in ("message", "part", _NEWER_TABLE):
            if "session_id" in columns[table]:
                changed = "MAX(time_updated)" if "time_updated" in columns[table] else "MAX(id)"
                query = f"SELECT session_id, COUNT(*), {changed} FROM {table} GROUP BY session_id"  # noqa: S608
                for row in rows(database, query):
                    known.setdefault(str(row[0]), []).append([table, *row[1:]])
    return [DatabasePart(session, digest_of(facts)) for session, facts in known.items()]


def dump_database(path: str, part: str) -> Iterator[bytes]:
    """One session's rows as lines, from one consistent state of the database."""
    with open_read_only(path) as database:
        columns = _require_columns(database)
        session = first_row(database, "SELECT * FROM session WHERE id = ?", part) or {"id": part}
        yield line_of("session", session)
        count = 0
        order = "time_created, id" if "time_created" in columns["message"] else "id"
        query = f"SELECT * FROM message WHERE session_id = ? ORDER BY {order}"  # noqa: S608
        for row in rows(database, query, part):
            message = _decode_row(row)
            yield line_of("message", message)
            count += 1
            for inner in rows(database, "SELECT * FROM part WHERE message_id = ? ORDER BY id", message["id"]):
                yield line_of("part", _decode_row(inner))
        if not count and "session_id" in columns[_NEWER_TABLE]:
            for row in rows(database, f"SELECT * FROM {_NEWER_TABLE} WHERE session_id = ?", part):  # noqa: S608
                yield line_of(_NEWER_TABLE, _decode_row(row))
        yield line_of("end", {"messages": count})


def is_opencode_database(path: str) -> bool:
    """Whether a database has OpenCode's tables. Raises SourceUnreadable."""
    with open_read_only(path) as database:
        columns = columns_of(database, _TABLES)
    return all((_NEEDED[table] | _DISTINCTIVE.get(table, set())) <= columns[table] for table in _NEEDED)


def _require_columns(database: sqlite3.Connection) -> dict[str, set[str]]:
    columns = columns_of(database, _TABLES)
    require_columns(columns, _NEEDED, "OpenCode")
    return columns


def _decode_row(row: sqlite3.Row) -> dict[str, Any]:
    """A row with its JSON decoded; text that is not JSON stays text, which the parser reports as a problem."""
    record = record_of(row)
    with suppress(ValueError, RecursionError):
        record["data"] = decode_json(str(record.get("data")).encode())
    return record
