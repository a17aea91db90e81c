"""Builds databases like the one of Cursor's editor, with the members that a reader looks at.

Knows nothing of Preheat's reader.
"""

import json
import sqlite3
from typing import Any

_START = 1_790_000_000_000


class CursorDatabase:
    """A `state.vscdb`; use it as a context manager, or keep it open as the running editor does."""

    def __init__(self, path: str, journal: str = "DELETE") -> None:
        self.path = path
        self.clock = _START
        self.connection = sqlite3.connect(path, isolation_level=None)
        self.connection.execute(f"PRAGMA journal_mode = {journal}")
        for table in ("ItemTable", "cursorDiskKV"):
            self.connection.execute(f"CREATE TABLE {table} (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")
        self._headers: dict[str, list[dict[str, Any]]] = {}
        self._composers: dict[str, dict[str, Any]] = {}

    def __enter__(self) -> "CursorDatabase":
        return self

    def __exit__(self, *error: object) -> None:
        self.connection.close()

    def composer(self, identifier: str, **members: Any) -> str:
        """Add a conversation, or write its record anew with further members."""
        self.clock += 1000
        record = self._composers.setdefault(identifier, {"_v": 10, "composerId": identifier, "createdAt": self.clock})
        record.update(members)
        record["lastUpdatedAt"] = self.clock
        record["fullConversationHeadersOnly"] = self._headers.setdefault(identifier, [])
        self.put(f"composerData:{identifier}", record)
        return identifier

    def bubble(self, composer: str, name: str, kind: int, text: str = "", **members: Any) -> None:
        """Add a message: 1 is the person's, 2 the model's. Dozens of empty members come with each."""
        self.clock += 1000
        empty = {"suggestedCodeBlocks": [], "gitDiffs": [], "images": [], "context": {}, "richText": ""}
        record = {"_v": 3, "type": kind, "bubbleId": name, **empty, "text": text, "createdAt": self.clock, **members}
        self.put(f"bubbleId:{composer}:{name}", record)
        self._headers[composer].append({"bubbleId": name, "type": kind})
        self.composer(composer)

    def call(self, composer: str, name: str, tool: str, arguments: Any, **former: Any) -> None:
        """Add a call; arguments and result are JSON text, as the editor keeps them."""
        result = former.pop("result", None)
        call = {"tool": 15, "name": tool, "toolCallId": f"tool_{name}", "rawArgs": json.dumps(arguments), **former}
        if result is not None:
            call["result"] = result if isinstance(result, str) else json.dumps(result)
        self.bubble(composer, name, 2, capabilityType=15, toolFormerData=call)

    def put(self, key: str, value: Any) -> None:
        """Write a row; anything but text becomes JSON."""
        stored = value if isinstance(value, str | bytes) or value is None else json.dumps(value, separators=(",", ":"))
        self.connection.execute("INSERT INTO cursorDiskKV VALUES (?, ?)", (key, stored))
