"""Builds small sessions of Copilot CLI, event by event.

Knows the shapes of the events, not how they are read.
"""

import json
from typing import Any

SESSION = "0f3c1a2b-5d6e-4f70-8a91-b2c3d4e5f607"
CONTEXT = {"cwd": "/w/proj", "gitRoot": "/w/proj", "branch": "main"}


class Events:
    """Events being written: every method adds one and returns the events."""

    def __init__(self, **start: Any) -> None:
        self.lines: list[bytes] = []
        first = {"sessionId": SESSION, "version": 1, "producer": "copilot-agent", "copilotVersion": "1.0.50"}
        self.add("session.start", **{**first, "context": CONTEXT, "selectedModel": "m", **start})

    def add(self, kind: str, /, agent: str = "", **data: Any) -> "Events":
        number = len(self.lines)
        event: dict[str, Any] = {"type": kind, "data": data, "id": f"e{number}", "parentId": f"e{number - 1}"}
        event["timestamp"] = f"2026-03-01T10:00:{number % 60:02}.000Z"
        if agent:
            event["agentId"] = agent
        return self.raw(event)

    def raw(self, event: Any) -> "Events":
        self.lines.append(json.dumps(event).encode())
        return self

    def ask(self, call_id: str, tool: str = "bash", agent: str = "", **arguments: Any) -> "Events":
        """A response with one call, and the start of that call: two events."""
        request = {"toolCallId": call_id, "name": tool, "arguments": arguments}
        self.add("assistant.message", agent, content="", apiCallId=f"r-{call_id}", model="m", toolRequests=[request])
        return self.add("tool.execution_start", agent, toolCallId=call_id, toolName=tool, arguments=arguments)

    def done(self, call_id: str, text: str = "", success: bool = True, agent: str = "", **more: Any) -> "Events":
        result = {"content": text}
        return self.add("tool.execution_complete", agent, toolCallId=call_id, success=success, result=result, **more)

    def data(self) -> bytes:
        return b"".join(line + b"\n" for line in self.lines)
