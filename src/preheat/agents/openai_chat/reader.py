"""Reads OpenAI chat messages: one conversation or many, in one document or one a line.

Knows nothing of who wrote them, so it takes no program's flags but `error` on a result. How the messages lie in a
file is `conversations.py`'s business.
"""

from hashlib import sha256
from typing import Any

import msgspec

from preheat.agents.chat import NO_RESULT, CallMatcher, calls_of, images_in, mapping, string, text_of, usage_of
from preheat.agents.conversations import Conversation, holds_conversations, read_conversations
from preheat.agents.documents import DocumentParser
from preheat.agents.openai_chat.shape import are_chat_messages
from preheat.agents.parsing import Draft, epoch_seconds, origin_of
from preheat.agents.reader import Framing, Heading, Parser
from preheat.agents.tool_names import kind_by_name
from preheat.model.session import (
    AssistantMessage,
    Other,
    Problem,
    Reasoning,
    ToolCall,
    ToolResult,
    UserMessage,
)

AGENT = "openai_chat"
_ID_KEYS = ("id", "conversation_id", "session_id", "thread_id", "chat_id")


class ChatParser(DocumentParser):
    """All conversations of one file."""

    agent = AGENT

    def read(self, block: bytes, line: int) -> None:
        found, problems = read_conversations(block)
        for conversation in found:
            self.add(_draft(conversation, self.path))
        self.add_problems(problems, line)


def _draft(conversation: Conversation, path: str) -> Draft:
    about = conversation.about
    model = string(about.get("model")) or string(about.get("pipeline_name"))
    draft = Draft(Heading(id=_id(conversation), model=model, reported=usage_of(about.get("usage"))))
    draft.heading.title = string(about.get("title"))
    for name in ("created", "created_at", "timestamp"):
        draft.heading.include_time(epoch_seconds(about.get(name)))
    rest = {name: value for name, value in about.items() if name != "messages"}
    if rest:
        draft.events.append(Other(line=0, name="conversation", raw=rest))
    joiner = CallMatcher()
    for number, message in enumerate(conversation.messages, 1):
        if isinstance(message, dict):
            _message(draft, joiner, message, number)
        else:
            draft.problems.append(Problem("not a message; kept as it is", path, conversation.line))
            draft.events.append(Other(line=number, name="unreadable", raw=message))
    return draft


def _id(conversation: Conversation) -> str:
    """The conversation's own id, else a digest of its beginning, which stays the same when it grows."""
    for name in _ID_KEYS:
        value = conversation.about.get(name)
        if value and isinstance(value, str | int) and not isinstance(value, bool):
            return str(value)
    text_fields = {name: value for name, value in conversation.about.items() if isinstance(value, str)}
    beginning = msgspec.json.encode([text_fields, conversation.messages[:2]], order="sorted")
    return f"chat-{sha256(beginning).hexdigest()[:16]}"


def _message(draft: Draft, joiner: CallMatcher, message: dict[str, Any], line: int) -> None:
    at = next(filter(None, (epoch_seconds(message.get(name)) for name in ("timestamp", "created_at", "created"))), None)
    draft.heading.include_time(at)
    role, content = message.get("role"), message.get("content")
    text = text_of(content)
    if role == "assistant":
        _answer(draft, joiner, message, line, at)
    elif role in ("tool", "function"):
        _result(draft, joiner, message, line, at)
    elif role == "user":
        origin = origin_of(text, injected=False)
        draft.events.append(UserMessage(line=line, at=at, text=text, origin=origin, images=images_in(content)))
    else:
        name = role if role in ("system", "developer") else "unknown"
        draft.events.append(Other(line=line, at=at, name=name, raw=message))


def _answer(draft: Draft, joiner: CallMatcher, message: dict[str, Any], line: int, at: float | None) -> None:
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
        call_id = joiner.open_call(requested, f"{line}.{number}")
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


def _result(draft: Draft, joiner: CallMatcher, message: dict[str, Any], line: int, at: float | None) -> None:
    name = string(message.get("tool_call_id")) or string(mapping(message.get("tool_call")).get("id"))
    call_id = joiner.close_call(name, string(message.get("name")))
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
