"""A session as OpenAI chat messages: one conversation that the interface itself would take.

Strict: roles, texts, calls and results, nothing else. Every call is followed by its result; where none was recorded a
marked text stands in its place. What was taken back, reasoning, times and outcomes have no place in this form.
Knows nothing of files.
"""

import re
from hashlib import sha256
from typing import Any

import msgspec

from preheat.agents.chat import NO_RESULT
from preheat.model.session import (
    AssistantMessage,
    Compaction,
    Event,
    Other,
    Session,
    ToolCall,
    ToolResult,
    UserMessage,
    pair_calls_with_results,
    surviving_events,
)

LONGEST_ID = 40
"""The interface refuses longer ids of calls."""
LONGEST_NAME = 64
_NOT_IN_NAMES = re.compile("[^A-Za-z0-9_-]")
_SYSTEM = ("system", "developer", "system_prompt")


def to_conversation(session: Session) -> dict[str, Any]:
    """A session as a conversation: its heading and messages; `messages` is empty if the session has none."""
    about = {
        "agent": session.agent,
        "version": session.version,
        "project": session.project,
        "branch": session.branch,
        "parent": session.parent or "",
        "relation": session.relation or "",
    }
    heading = {"id": session.id, "title": session.title, "model": session.model}
    return {
        **{name: value for name, value in heading.items() if value},
        "metadata": {name: value for name, value in about.items() if value},
        "messages": to_messages(session),
    }


def to_messages(session: Session) -> list[dict[str, Any]]:
    """The messages of a session: one for each text of a person or program, each response, and each of its results."""
    remaining = surviving_events(session)
    remaining_ids = {id(event) for event in remaining}
    results = {
        id(call): result
        for call, result in pair_calls_with_results(session)
        if result is not None and id(result) in remaining_ids
    }
    builder = _Messages(results)
    for event in remaining:
        builder.add(event)
    return builder.finish()


class _Messages:
    """Builds the messages; events of a response are joined even if others are between them."""

    def __init__(self, results: dict[int, ToolResult]) -> None:
        self._results = results
        self._groups: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
        """Messages, each with the messages that must follow it directly."""
        self._responses: dict[str, int] = {}
        self._ids: set[str] = set()

    def add(self, event: Event) -> None:
        if isinstance(event, UserMessage):
            self._groups.append(({"role": "user", "content": event.text}, []))
        elif isinstance(event, Compaction) and event.summary:
            self._groups.append(({"role": "system", "content": event.summary}, []))
        elif isinstance(event, Other) and event.name in _SYSTEM:
            self._system(event)
        elif isinstance(event, AssistantMessage) and event.text:
            message, _ = self._response(event, event.response)
            before = message["content"]
            message["content"] = f"{before}\n\n{event.text}" if before else event.text
        elif isinstance(event, ToolCall):
            self._call(event)

    def finish(self) -> list[dict[str, Any]]:
        return [message for first, following in self._groups for message in (first, *following)]

    def _system(self, event: Other) -> None:
        content = event.raw.get("content") if isinstance(event.raw, dict) else event.raw
        if isinstance(content, str) and content:
            role = "developer" if event.name == "developer" else "system"
            self._groups.append(({"role": role, "content": content}, []))

    def _response(self, event: Event, response: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        name = response or f"line {event.line}"
        if name not in self._responses:
            self._responses[name] = len(self._groups)
            self._groups.append(({"role": "assistant", "content": None}, []))
        return self._groups[self._responses[name]]

    def _call(self, event: ToolCall) -> None:
        message, following = self._response(event, event.response)
        call_id = self._id(event)
        function = {
            "name": _NOT_IN_NAMES.sub("_", event.tool)[:LONGEST_NAME] or "unknown",
            "arguments": msgspec.json.encode(event.input).decode(),
        }
        message.setdefault("tool_calls", []).append({"id": call_id, "type": "function", "function": function})
        result = self._results.get(id(event))
        text = NO_RESULT if result is None else result.text
        following.append({"role": "tool", "tool_call_id": call_id, "content": text})

    def _id(self, event: ToolCall) -> str:
        """A unique id for the call that the interface accepts."""
        call_id, again = event.call_id, 0
        while not call_id or len(call_id) > LONGEST_ID or call_id in self._ids:
            again += 1
            call_id = f"call_{sha256(f'{event.call_id} {event.line} {again}'.encode()).hexdigest()[:24]}"
        self._ids.add(call_id)
        return call_id
