"""Builds records of Gemini CLI's journal and reads a session from them, one record at a time.

For records that the real program writes only with a person present, or wrote in earlier versions.
"""

import json
from typing import Any

import msgspec

from preheat.agents.gemini.reader import READER
from preheat.model.session import Event, Session

START = {"sessionId": "s1", "projectHash": "f" * 64, "startTime": "2026-05-01T10:00:00.000Z", "kind": "main"}
TOKENS = {"input": 100, "output": 20, "cached": 30, "thoughts": 5, "tool": 2, "total": 127}


def read_journal(*records: Any, path: str = "/h/.gemini/tmp/clock/chats/session-1.jsonl") -> Session:
    """The session of these records, each read by a new parser from the saved state of the last, as a growing file is."""
    events: list[Event] = []
    parser = READER.parser(path)
    for line, record in enumerate((START, *records), 1):
        parser.feed(json.dumps(record).encode() + b"\n", line)
        (session,) = parser.take()
        events += session.events
        state = parser.save()
        if state is None:
            raise AssertionError("a session that has begun can be gone on with")
        parser = READER.parser(path)
        parser.load(state)
    (session,) = parser.take()
    return msgspec.structs.replace(session, events=tuple(events))


def user(name: str, *parts: Any, **more: Any) -> dict[str, Any]:
    """A user message of texts and other parts."""
    content = [{"text": part} if isinstance(part, str) else part for part in parts]
    return {"id": name, "timestamp": "2026-05-01T10:00:01.000Z", "type": "user", "content": content, **more}


def answer(name: str, text: Any = "", calls: Any = None, **more: Any) -> dict[str, Any]:
    """A message of the model; without `calls` it has no list of them."""
    message = {"id": name, "timestamp": "2026-05-01T10:00:02.000Z", "type": "gemini", "content": text, **more}
    return message if calls is None else {**message, "toolCalls": calls}


def call(
    name: str, status: str = "success", output: Any = "fine", tool: str = "read_file", **more: Any
) -> dict[str, Any]:
    """A call's record with its result in it."""
    body = {"error" if status != "success" else "output": output}
    result = [{"functionResponse": {"id": name, "name": tool, "response": body}}]
    record = {"id": name, "name": tool, "args": {"file_path": "a"}, "status": status, "result": result}
    return {**record, "timestamp": "2026-05-01T10:00:03.000Z", **more}
