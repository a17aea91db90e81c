"""Hermes's database, read-only: which sessions are in it, and each one's rows written out as lines.

Columns are looked up, not assumed: the schema grows with every release. Knows nothing of what the rows mean
beyond how sessions belong together; the lines are made so that the parser never needs the database.

A line is `{"table": name, "row": columns}`. First the session, then `lineage` (where it came from, and the
keys of the parent's messages, copies of which may follow), its messages, the rest that is kept, and `end`.
"""

import os
import sqlite3
from collections.abc import Iterator
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
from preheat.agents.hermes import EVIDENCE as EVIDENCE
from preheat.agents.hermes.records import key_of
from preheat.agents.reader import DatabasePart
from preheat.errors import SourceUnreadable

_NEEDED = {"sessions": {"id"}, "messages": {"id", "session_id", "role", "content"}}
_DISTINCTIVE = {"sessions": {"source", "started_at"}, "messages": {"tool_call_id", "tool_calls", "tool_name"}}
"""Further columns by which the database is recognised as Hermes's."""
_TABLES = ("sessions", "messages", "session_model_usage")
_STAMP = (
    "parent_session_id",
    "source",
    "model",
    "title",
    "cwd",
    "git_branch",
    "started_at",
    "ended_at",
    "end_reason",
    "message_count",
    "tool_call_count",
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
    "api_call_count",
    "actual_cost_usd",
    "estimated_cost_usd",
    "rewind_count",
    "archived",
)
_GOAL_LENGTH = 2000


def parts(path: str) -> list[DatabasePart]:
    """The sessions, each with a stamp over what can be known without reading its messages."""
    with open_read_only(path) as database:
        columns = _require_columns(database)
        known: dict[str, list[Any]] = {}
        names = [name for name in _STAMP if name in columns["sessions"]]
        for row in rows(database, f"SELECT id, {', '.join(names or ['id'])} FROM sessions"):  # noqa: S608
            known[str(row[0])] = [*row[1:]]
        for row in rows(database, _message_counts_query(columns["messages"])):
            known.setdefault(str(row[0]), []).append([*row[1:]])  # messages of a deleted session stay a session
        for query in _further_queries(columns):
            for row in rows(database, query):
                if str(row[0]) in known:
                    known[str(row[0])].append([*row[1:]])
    return [DatabasePart(session, digest_of(facts)) for session, facts in known.items()]


def _message_counts_query(columns: set[str]) -> str:
    # Answered from an index alone. A written row changes only when it is rewound or compacted away: that shows in
    # `active`, and a compaction adds rows as well.
    wanted = ["COUNT(*)", "MAX(id)"]
    wanted += ["SUM(active)"] if "active" in columns else []
    wanted += ["MAX(timestamp)"] if "timestamp" in columns else []
    return f"SELECT session_id, {', '.join(wanted)} FROM messages GROUP BY session_id"  # noqa: S608


def _further_queries(columns: dict[str, set[str]]) -> Iterator[str]:
    if "parent_session_id" in columns["sessions"]:
        yield "SELECT parent_session_id, 'children', COUNT(*) FROM sessions GROUP BY parent_session_id"
    usage = columns["session_model_usage"]
    if {"session_id", "input_tokens", "output_tokens"} <= usage:
        yield (
            "SELECT session_id, 'usage', COUNT(*), SUM(input_tokens), SUM(output_tokens)"
            " FROM session_model_usage GROUP BY session_id"
        )


def dump(path: str, part: str) -> Iterator[bytes]:
    """One session's rows as lines, from one consistent state of the database."""
    with open_read_only(path) as database:
        columns = _require_columns(database)
        session = first_row(database, "SELECT * FROM sessions WHERE id = ?", part) or {"id": part}
        yield line_of("sessions", session)
        lineage = _lineage(database, columns, session)
        if lineage:
            yield line_of("lineage", lineage)
        count = 0
        for row in rows(database, "SELECT * FROM messages WHERE session_id = ? ORDER BY id", part):
            yield line_of("messages", record_of(row))
            count += 1
        yield from _children(database, columns, part)
        if "session_id" in columns["session_model_usage"]:
            for row in rows(database, "SELECT * FROM session_model_usage WHERE session_id = ?", part):
                yield line_of("session_model_usage", record_of(row))
    yield from _evidence(path, part)
    yield line_of("end", {"messages": count})


def is_hermes_database(path: str) -> bool:
    """Whether a database has Hermes's tables. Raises SourceUnreadable."""
    with open_read_only(path) as database:
        columns = columns_of(database, _TABLES)
    return all((_NEEDED[table] | _DISTINCTIVE[table]) <= columns[table] for table in _NEEDED)


def _lineage(database: sqlite3.Connection, columns: dict[str, set[str]], session: dict[str, Any]) -> dict[str, Any]:
    """The parent: how it ended, and the keys of its messages that may be copied into the child."""
    parent = session.get("parent_session_id")
    row = first_row(database, "SELECT * FROM sessions WHERE id = ?", parent) if parent else None
    if row is None:
        return {}
    lineage = {name: row.get(name) for name in ("id", "source", "end_reason", "ended_at", "started_at")}
    ancestor: dict[str, Any] | None = row
    seen: set[Any] = set()
    # A session that continues another after a compaction has no folder of its own.
    while ancestor and ancestor["id"] not in seen and not lineage.get("cwd"):
        lineage.update({name: ancestor.get(name) for name in ("cwd", "git_branch")})
        seen.add(ancestor["id"])
        parent_id = ancestor.get("parent_session_id")
        ancestor = first_row(database, "SELECT * FROM sessions WHERE id = ?", parent_id) if parent_id else None
    if session.get("source") != "subagent":
        lineage["keys"] = list(_keys(database, columns["messages"], parent, session["id"]))
    return lineage


def _keys(database: sqlite3.Connection, columns: set[str], parent: Any, child: Any) -> Iterator[str]:
    """The keys of the parent's messages from before the child's first message."""
    names = [name for name in ("role", "content", "tool_call_id", "tool_calls") if name in columns]
    query = (
        f"SELECT {', '.join(names)} FROM messages WHERE session_id = ? AND id <"  # noqa: S608
        " COALESCE((SELECT MIN(id) FROM messages WHERE session_id = ?), 0) ORDER BY id"
    )
    for row in rows(database, query, parent, child):
        yield key_of(record_of(row))


def _children(database: sqlite3.Connection, columns: dict[str, set[str]], part: str) -> Iterator[bytes]:
    """The sessions started from this one, each with its first prompt."""
    if "parent_session_id" not in columns["sessions"]:
        return
    names = [name for name in ("source", "started_at", "model_config") if name in columns["sessions"]]
    query = f"SELECT {', '.join(['id', *names])} FROM sessions WHERE parent_session_id = ? ORDER BY rowid"  # noqa: S608
    for row in rows(database, query, part).fetchall():
        child = record_of(row)
        first = first_row(
            database,
            "SELECT content FROM messages WHERE session_id = ? AND role = 'user' ORDER BY id LIMIT 1",
            child["id"],
        )
        goal = first["content"] if first else None
        yield line_of("children", {**child, "goal": goal[:_GOAL_LENGTH] if isinstance(goal, str) else None})


def _evidence(path: str, part: str) -> Iterator[bytes]:
    """The program's notes on tests that were run, from a second database."""
    evidence_path = os.path.join(os.path.dirname(path), EVIDENCE)
    if not os.path.exists(evidence_path):
        return
    try:
        with open_read_only(evidence_path) as database:
            own = columns_of(database, ["verification_events"])["verification_events"]
            if {"id", "session_id"} <= own:
                query = "SELECT * FROM verification_events WHERE session_id = ? ORDER BY id"
                found = [line_of("verification_events", record_of(row)) for row in rows(database, query, part)]
                yield from found
    except SourceUnreadable as error:
        yield line_of("problem", {"message": f"`{EVIDENCE}` beside it cannot be read: {error}"})


def _require_columns(database: sqlite3.Connection) -> dict[str, set[str]]:
    columns = columns_of(database, _TABLES)
    require_columns(columns, _NEEDED, "Hermes")
    return columns
