"""OpenAI chat messages: which messages are such, reading conversations of them, and writing a session as one.

Detection is strict, because many agents write something similar. Reading takes no program's flags but `error` on a result. A
written conversation is one that the interface itself would take: roles, texts, calls, and a result for every call (a marked
text where none was recorded); reasoning, times and outcomes have no place in it. Knows nothing of files, nor of who wrote the
messages.
"""

import re
from hashlib import sha256
from typing import Any

import msgspec

from preheat.agents.chat import NO_RESULT, CallMatcher, calls_of, images_in, mapping, string, text_of, usage_of
from preheat.agents.documents import Conversation, DocumentParser, holds_conversations, read_conversations
from preheat.agents.parsing import Draft, epoch_seconds, origin_of
from preheat.agents.reader import Framing, Heading, Parser
from preheat.agents.tool_names import kind_by_name
from preheat.model.session import (
    AssistantMessage,
    Compaction,
    Event,
    Other,
    Problem,
    Reasoning,
    Session,
    ToolCall,
    ToolResult,
    UserMessage,
    pair_calls_with_results,
    surviving_events,
)

# Which messages are OpenAI chat messages.
ROLES = frozenset(("system", "developer", "user", "assistant", "tool", "function"))
_MESSAGE_KEYS = frozenset(
    [
        "role",
        "content",
        "name",
        "tool_calls",
        "tool_call_id",
        "function_call",
        "refusal",
        "audio",
        "annotations",
        "reasoning_content",
        "reasoning",
        "reasoning_details",
        "id",
        "weight",
        "provider_specific_fields",
        "thinking_blocks",
        "tool_call",
        "error",
        "timestamp",
        "created",
        "created_at",
        "model",
        "usage",
        "index",
        "tool_name",
        "finish_reason",
        "metadata",
    ]
)
_FOREIGN_KEYS = frozenset(("trajectory_format", "trajectory", "history", "simulations", "sessionId", "session_id_hash"))
_PART_TYPES = frozenset(
    [
        "text",
        "image_url",
        "input_text",
        "output_text",
        "input_image",
        "input_audio",
        "audio",
        "file",
        "refusal",
        "image",
        "video_url",
    ]
)
_MAX_MESSAGES = 8


def is_chat_message(value: object) -> bool:
    """Whether a value is a message as the interface defines it, without further members."""
    if not isinstance(value, dict) or string(value.get("role")) not in ROLES or not _MESSAGE_KEYS.issuperset(value):
        return False
    content = value.get("content")
    if isinstance(content, list):
        return all(isinstance(part, dict) and string(part.get("type")) in _PART_TYPES for part in content)
    if isinstance(content, str) or (content is None and "content" in value):
        return True
    return "content" not in value and ("tool_calls" in value or "function_call" in value)


def are_chat_messages(messages: list[Any], about: dict[str, Any]) -> bool:
    """Whether messages are OpenAI chat messages, in an object that is no other format's."""
    if not messages or not _FOREIGN_KEYS.isdisjoint(about):
        return False
    return all(is_chat_message(message) for message in messages[:_MAX_MESSAGES])


# Reading conversations.
AGENT = "openai_chat"
_ID_KEYS = ("id", "conversation_id", "session_id", "thread_id", "chat_id")


class ChatParser(DocumentParser):
    """All conversations of one file."""

    agent = AGENT

    def read(self, block: bytes, line: int) -> None:
        found, problems = read_conversations(block)
        for conversation in found:
            self.add(_draft_of(conversation, self.path))
        self.add_problems(problems, line)


def _draft_of(conversation: Conversation, path: str) -> Draft:
    about = conversation.about
    model = string(about.get("model")) or string(about.get("pipeline_name"))
    draft = Draft(Heading(id=_conversation_id(conversation), model=model, reported=usage_of(about.get("usage"))))
    draft.heading.title = string(about.get("title"))
    for name in ("created", "created_at", "timestamp"):
        draft.heading.include_time(epoch_seconds(about.get(name)))
    rest = {name: value for name, value in about.items() if name != "messages"}
    if rest:
        draft.events.append(Other(line=0, name="conversation", raw=rest))
    matcher = CallMatcher()
    for number, message in enumerate(conversation.messages, 1):
        if isinstance(message, dict):
            _fold_message(draft, matcher, message, number)
        else:
            draft.problems.append(Problem("not a message; kept as it is", path, conversation.line))
            draft.events.append(Other(line=number, name="unreadable", raw=message))
    return draft


def _conversation_id(conversation: Conversation) -> str:
    """The conversation's own id, else a digest of its beginning, which stays the same when it grows."""
    for name in _ID_KEYS:
        value = conversation.about.get(name)
        if value and isinstance(value, str | int) and not isinstance(value, bool):
            return str(value)
    text_fields = {name: value for name, value in conversation.about.items() if isinstance(value, str)}
    beginning = msgspec.json.encode([text_fields, conversation.messages[:2]], order="sorted")
    return f"chat-{sha256(beginning).hexdigest()[:16]}"


def _fold_message(draft: Draft, matcher: CallMatcher, message: dict[str, Any], line: int) -> None:
    at = next(filter(None, (epoch_seconds(message.get(name)) for name in ("timestamp", "created_at", "created"))), None)
    draft.heading.include_time(at)
    role, content = message.get("role"), message.get("content")
    text = text_of(content)
    if role == "assistant":
        _add_answer(draft, matcher, message, line, at)
    elif role in ("tool", "function"):
        _add_result(draft, matcher, message, line, at)
    elif role == "user":
        origin = origin_of(text, injected=False)
        draft.events.append(UserMessage(line=line, at=at, text=text, origin=origin, images=images_in(content)))
    else:
        name = role if role in ("system", "developer") else "unknown"
        draft.events.append(Other(line=line, at=at, name=name, raw=message))


def _add_answer(draft: Draft, matcher: CallMatcher, message: dict[str, Any], line: int, at: float | None) -> None:
    response = string(message.get("id")) or f"message {line}"
    thought = string(message.get("reasoning_content")) or string(message.get("reasoning"))
    if thought:
        draft.events.append(Reasoning(line=line, at=at, text=thought, response=response))
    model = string(message.get("model")) or draft.heading.model
    draft.events.append(
        AssistantMessage(
            line=line,
            at=at,
            text=text_of(message.get("content")) or string(message.get("refusal")),
            response=response,
            model=model,
            usage=usage_of(message.get("usage")),
        )
    )
    for number, requested in enumerate(calls_of(message), 1):
        call_id = matcher.open_call(requested, f"{line}.{number}")
        draft.events.append(
            ToolCall(
                line=line,
                at=at,
                call_id=call_id,
                tool=requested.tool,
                kind=kind_by_name(requested.tool),
                input=requested.input,
                response=response,
            )
        )


def _add_result(draft: Draft, matcher: CallMatcher, message: dict[str, Any], line: int, at: float | None) -> None:
    name = string(message.get("tool_call_id")) or string(mapping(message.get("tool_call")).get("id"))
    call_id = matcher.close_call(name, string(message.get("name")))
    if not call_id:
        draft.events.append(Other(line=line, at=at, name="result without a call", raw=message))
        return
    text = text_of(message.get("content"))
    if text == NO_RESULT:
        draft.events.append(Other(line=line, at=at, name="no result", raw=message))
        return
    error = message.get("error")
    failed, detail = None, {}
    if "error" in message:
        failed = bool(error)
        detail = {"error": error[:500]} if isinstance(error, str) and error else {}
        text = text or string(error)  # the model gets the error instead of a result
    draft.events.append(ToolResult(line=line, at=at, call_id=call_id, text=text, is_error=failed, detail=detail))


class ChatReader:
    """Reads chat messages as JSON or JSONL."""

    agent = AGENT

    def framing(self, path: str) -> Framing:
        return "document"

    def detect(self, head: bytes, path: str) -> bool:
        return holds_conversations(head, are_chat_messages)

    def parser(self, path: str, part: str = "") -> Parser:
        return ChatParser(path)


READER = ChatReader()


# Writing a session as OpenAI chat messages.
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
            self._add_system(event)
        elif isinstance(event, AssistantMessage) and event.text:
            message, _ = self._response(event, event.response)
            before = message["content"]
            message["content"] = f"{before}\n\n{event.text}" if before else event.text
        elif isinstance(event, ToolCall):
            self._add_call(event)

    def finish(self) -> list[dict[str, Any]]:
        return [message for first, following in self._groups for message in (first, *following)]

    def _add_system(self, event: Other) -> None:
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

    def _add_call(self, event: ToolCall) -> None:
        message, following = self._response(event, event.response)
        call_id = self._call_id(event)
        function = {
            "name": _NOT_IN_NAMES.sub("_", event.tool)[:LONGEST_NAME] or "unknown",
            "arguments": msgspec.json.encode(event.input).decode(),
        }
        message.setdefault("tool_calls", []).append({"id": call_id, "type": "function", "function": function})
        result = self._results.get(id(event))
        text = NO_RESULT if result is None else result.text
        following.append({"role": "tool", "tool_call_id": call_id, "content": text})

    def _call_id(self, event: ToolCall) -> str:
        """A unique id for the call that the interface accepts."""
        call_id, again = event.call_id, 0
        while not call_id or len(call_id) > LONGEST_ID or call_id in self._ids:
            again += 1
            call_id = f"call_{sha256(f'{event.call_id} {event.line} {again}'.encode()).hexdigest()[:24]}"
        self._ids.add(call_id)
        return call_id
