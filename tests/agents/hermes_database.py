"""Builds databases like those of Hermes, of any schema version, with the columns that a reader looks at.

Compacts and rewinds as the program does. Knows nothing of Preheat's reader.
"""

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

_SESSIONS = {
    11: """id source model model_config system_prompt parent_session_id started_at ended_at end_reason
           message_count tool_call_count input_tokens output_tokens cache_read_tokens cache_write_tokens
           reasoning_tokens title api_call_count""",
    16: "cwd rewind_count archived",
    19: "git_branch git_repo_root",
    22: "profile_name",
}
_MESSAGES = {
    11: """session_id role content tool_call_id tool_calls tool_name timestamp token_count finish_reason
           reasoning reasoning_content reasoning_details codex_reasoning_items""",
    13: "platform_message_id observed",
    16: "active",
    19: "compacted",
    22: "effect_disposition api_content",
}
_DEFAULTS = {"active": "INTEGER NOT NULL DEFAULT 1", "compacted": "INTEGER NOT NULL DEFAULT 0"}
_USAGE = "session_id model task api_call_count input_tokens output_tokens"
NEWEST = 22


def terminal(output: str, exit_code: int = 0, **more: Any) -> str:
    """A result of the terminal tool as it is stored: `error` is null even when the command failed."""
    return json.dumps({"output": output, "exit_code": exit_code, "error": None, **more})


def call(identifier: str, tool: str = "terminal", **arguments: Any) -> dict[str, Any]:
    """A tool call as it is stored: the arguments are JSON text."""
    function = {"name": tool, "arguments": json.dumps(arguments)}
    return {"id": identifier, "call_id": identifier, "type": "function", "function": function}


class HermesDatabase:
    """A `state.db`; use it as a context manager, or keep it open as the running program does."""

    def __init__(self, path: str, version: int = NEWEST) -> None:
        self.path = path
        self.clock = 1_790_000_000.0
        self.connection = sqlite3.connect(path, isolation_level=None)
        self.connection.row_factory = sqlite3.Row
        self.connection.execute("PRAGMA journal_mode = WAL")
        self._create("schema_version", ["version"])
        self.connection.execute("INSERT INTO schema_version VALUES (?)", (version,))
        self._create("sessions", _columns(_SESSIONS, version))
        self._create("messages", ["id INTEGER PRIMARY KEY AUTOINCREMENT", *_columns(_MESSAGES, version)])
        if version >= NEWEST:
            self._create("session_model_usage", _USAGE.split())

    def __enter__(self) -> "HermesDatabase":
        return self

    def __exit__(self, *error: object) -> None:
        self.connection.close()

    def session(self, identifier: str, **columns: Any) -> str:
        """Add a session."""
        self.clock += 1
        config = columns.get("model_config")
        if isinstance(config, dict):
            columns["model_config"] = json.dumps(config)
        self.add("sessions", {"id": identifier, "source": "cli", "started_at": self.clock, **columns})
        return identifier

    def message(self, session: str, role: str, content: str | None = None, **columns: Any) -> int:
        """Add a message; returns its row id."""
        self.clock += 1
        calls = columns.get("tool_calls")
        if isinstance(calls, list):
            columns["tool_calls"] = json.dumps(calls)
        row = {"session_id": session, "role": role, "content": content, "timestamp": self.clock, **columns}
        return self.add("messages", row)

    def turn(self, session: str, identifier: str, output: str = "done", exit_code: int = 0) -> None:
        """A terminal call and its result."""
        self.message(session, "assistant", tool_calls=[call(identifier, command=f"run {identifier}")])
        self.message(session, "tool", terminal(output, exit_code), tool_call_id=identifier, tool_name="terminal")

    def compact(self, session: str, head: int, tail: int, summary: str, role: str = "user") -> None:
        """Compact in place: active rows are marked as compacted, the first and last of them stored again."""
        live = self.connection.execute(
            "SELECT * FROM messages WHERE session_id = ? AND active = 1 ORDER BY id", (session,)
        ).fetchall()
        self.connection.execute(
            "UPDATE messages SET active = 0, compacted = 1 WHERE session_id = ? AND active = 1", (session,)
        )
        kept = [dict(row) for row in live]
        between = [{"session_id": session, "role": role, "content": summary}] if summary else []
        self.store_together([*kept[:head], *between, *kept[len(kept) - tail :]])

    def store_together(self, rows: Sequence[dict[str, Any]]) -> None:
        """Store rows together, as a compaction does: results are pruned, timestamps a microsecond apart."""
        self.clock += 1
        for place, row in enumerate(rows):
            new = {name: value for name, value in row.items() if name not in ("id", "active", "compacted")}
            if new["role"] == "tool":
                new["content"] = "[Old tool output cleared to save context space]"
            self.add("messages", {**new, "timestamp": self.clock + place * 1e-6})

    def rewind(self, session: str, to: int) -> None:
        """The person goes back to before a message."""
        self.connection.execute(
            "UPDATE messages SET active = 0 WHERE session_id = ? AND id >= ? AND active = 1", (session, to)
        )

    def add(self, table: str, row: dict[str, Any]) -> int:
        names, marks = ", ".join(row), ", ".join("?" * len(row))
        cursor = self.connection.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", tuple(row.values()))
        return cursor.lastrowid or 0

    def _create(self, table: str, columns: list[str]) -> None:
        self.connection.execute(f"CREATE TABLE {table} ({', '.join(columns)})")


def _columns(added: dict[int, str], version: int) -> list[str]:
    names = [name for since, text in added.items() if since <= version for name in text.split()]
    return [f"{name} {_DEFAULTS.get(name, '')}".strip() for name in names]
