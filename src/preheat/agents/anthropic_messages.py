"""Reads Anthropic messages: conversations, and requests with their responses, one or many in a file.

Detection is strict: plain texts alone could be any interface's, so a content block that only this interface has, or a
`system` beside the messages, must be there. A request that goes on with an earlier one is the same conversation. Knows
nothing of who wrote them, so it takes no program's flags but `is_error` on a result.
"""

from hashlib import sha256
from typing import Any
from zlib import crc32

import msgspec

from preheat.agents.chat import CallMatcher, RequestedCall, count, mapping, sequence, string, text_of
from preheat.agents.documents import Conversation, DocumentParser, holds_conversations, read_conversations
from preheat.agents.parsing import Draft, arguments_of, epoch_seconds, origin_of
from preheat.agents.reader import Framing, Heading, Parser
from preheat.agents.tool_names import kind_by_name
from preheat.model.session import (
    AssistantMessage,
    Other,
    Problem,
    Reasoning,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
)

# Which messages are Anthropic messages, and which requests go on with an earlier one.
_MESSAGE_KEYS = frozenset(
    [
        "role",
        "content",
        "id",
        "type",
        "model",
        "stop_reason",
        "stop_sequence",
        "stop_details",
        "usage",
        "container",
        "context_management",
        "timestamp",
        "created_at",
    ]
)
_OWN_BLOCKS = frozenset(
    [
        "tool_use",
        "tool_result",
        "thinking",
        "redacted_thinking",
        "server_tool_use",
        "mcp_tool_use",
        "mcp_tool_result",
        "search_result",
        "container_upload",
        "compaction",
    ]
)
_SHARED_BLOCKS = frozenset(("text", "image", "document"))
_TOOL_RESULT = "_tool_result"
_WRAPPERS = ("request", "params", "body")
_OWN_ABOUT = frozenset(("anthropic_version", "anthropic_beta", "betas"))
_FOREIGN_KEYS = frozenset(
    ("trajectory_format", "history", "simulations", "sessionId", "schema_version", "system_prompt")
)


def find_request_messages(value: dict[str, Any]) -> tuple[dict[str, Any], list[Any]] | None:
    """Find a request and its messages, with the response as the last one; logs wrap both in another object."""
    request = value
    for name in _WRAPPERS:
        inside = mapping(value.get(name))
        if isinstance(inside.get("messages"), list):
            request = {
                **{key: item for key, item in value.items() if key not in (name, "response", "result")},
                **inside,
            }
    messages = request.get("messages")
    if not isinstance(messages, list):
        return None
    response = mapping(value.get("response")) or mapping(mapping(value.get("result")).get("message"))
    if response.get("role") != "assistant":
        return request, messages
    dated = {"timestamp": value["timestamp"], **response} if "timestamp" in value else response
    return request, [*messages, dated]


def are_anthropic_messages(messages: list[Any], about: dict[str, Any]) -> bool:
    """Whether messages are Anthropic's: no other format's object around them, and something that only this interface has."""
    if not messages or not _FOREIGN_KEYS.isdisjoint(about) or not all(map(_is_message, messages)):
        return False
    system = about.get("system")
    return (
        any(map(_is_distinctive, messages))
        or isinstance(system, str)
        or (isinstance(system, list) and all(mapping(block).get("type") == "text" for block in system))
        or not _OWN_ABOUT.isdisjoint(about)
    )


def _is_message(value: object) -> bool:
    message = mapping(value)
    if message.get("role") not in ("user", "assistant", "system") or not _MESSAGE_KEYS.issuperset(message):
        return False
    content = message.get("content")
    return isinstance(content, str) or (isinstance(content, list) and all(map(_is_block, content)))


def _is_block(value: object) -> bool:
    kind = string(mapping(value).get("type"))
    return kind in _OWN_BLOCKS or kind in _SHARED_BLOCKS or kind.endswith(_TOOL_RESULT)


def _is_distinctive(message: dict[str, Any]) -> bool:
    if message.get("type") == "message" and "stop_reason" in message:
        return True
    return any(
        string(block.get("type")) in _OWN_BLOCKS
        or string(block.get("type")).endswith(_TOOL_RESULT)
        or (block.get("type") in ("image", "document") and isinstance(block.get("source"), dict))
        for block in sequence(message.get("content"))
    )


def merge_repeated_requests(all_conversations: list[Conversation]) -> list[Conversation]:
    """Merge requests that continue an earlier one, because each repeats all earlier messages of its conversation."""
    kept: list[Conversation] = []
    marks: list[list[int]] = []
    for conversation in all_conversations:
        message_marks = [_mark(message) for message in conversation.messages]
        for index, earlier in enumerate(marks):
            if earlier and message_marks[: len(earlier)] == earlier:
                # The earlier messages are kept: as responses they have usage.
                messages = [*kept[index].messages, *conversation.messages[len(earlier) :]]
                kept[index], marks[index] = kept[index]._replace(messages=messages), message_marks
                break
            if message_marks and message_marks == earlier[: len(message_marks)]:
                break
        else:
            kept.append(conversation)
            marks.append(message_marks)
    return kept


def _mark(message: object) -> int:
    """A checksum that is the same for a response and its later repetition: without thinking and cache marks."""
    fields = mapping(message)
    content = fields.get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else sequence(content)
    repeated_blocks = [
        {name: value for name, value in mapping(block).items() if name not in ("cache_control", "citations")}
        for block in blocks
        if mapping(block).get("type") not in ("thinking", "redacted_thinking")
    ]
    return crc32(msgspec.json.encode([string(fields.get("role")), repeated_blocks], order="sorted"))


# Reading conversations.
AGENT = "anthropic_messages"
_ID_KEYS = ("conversation_id", "session_id", "thread_id", "chat_id", "custom_id", "id")
_CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")
_RESULT_ENDING = "tool_result"
_PICTURES = ("image", "document")
_OTHERS_NAME = "api_conversation_history.json"
"""A file of such messages that belongs to an agent with a reader of its own."""


class MessagesParser(DocumentParser):
    """All conversations of one file."""

    agent = AGENT

    def read(self, block: bytes, line: int) -> None:
        found, problems = read_conversations(block, find_request_messages)
        for conversation in merge_repeated_requests(found):
            self.add(_Conversation(conversation, self.path).draft)
        self.add_problems(problems, line)


class _Conversation:
    """Folds one conversation into a draft."""

    def __init__(self, conversation: Conversation, path: str) -> None:
        about = conversation.about
        self.draft = Draft(Heading(id=_conversation_id(conversation), model=string(about.get("model"))))
        self.draft.heading.title = string(about.get("title"))
        for name in ("created_at", "timestamp"):
            self.draft.heading.include_time(epoch_seconds(about.get(name)))
        self._matcher = CallMatcher()
        rest = {name: value for name, value in about.items() if name != "messages"}
        if rest:
            self._keep("request", rest, 0, None)
        for number, message in enumerate(conversation.messages, 1):
            if isinstance(message, dict):
                self._take_message(message, number)
            else:
                self.draft.problems.append(Problem("not a message; kept as it is", path, conversation.line))
                self._keep("unreadable", message, number, None)

    def _take_message(self, message: dict[str, Any], line: int) -> None:
        at = next(filter(None, (epoch_seconds(message.get(name)) for name in ("timestamp", "created_at"))), None)
        self.draft.heading.include_time(at)
        content = message.get("content")
        if message.get("role") not in ("user", "assistant") or not isinstance(content, str | list):
            name = "system" if message.get("role") == "system" else "unknown"
            self._keep(name, message, line, at)
            return
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if message["role"] == "assistant":
            self._take_answer(message, blocks, line, at)
        else:
            self._take_user(blocks, line, at)

    def _take_user(self, blocks: list[Any], line: int, at: float | None) -> None:
        texts, images = [], 0
        for block in blocks:
            kind = string(mapping(block).get("type"))
            if kind == "text":
                texts.append(string(block.get("text")))
            elif kind in _PICTURES:
                images += 1
            elif kind.endswith(_RESULT_ENDING):
                self._add_result(block, line, at)
            else:
                self._keep(f"block/{kind}" if kind else "unreadable", block, line, at)
        text = "\n".join(filter(None, texts))
        if text or images:
            origin = origin_of(text, injected=False)
            self.draft.events.append(UserMessage(line=line, at=at, text=text, origin=origin, images=images))

    def _take_answer(self, message: dict[str, Any], blocks: list[Any], line: int, at: float | None) -> None:
        response = string(message.get("id")) or f"message {line}"
        model = string(message.get("model")) or self.draft.heading.model
        self.draft.heading.model = model
        by_kind = [(string(mapping(block).get("type")), mapping(block)) for block in blocks]
        for kind, block in by_kind:
            if kind in ("thinking", "redacted_thinking"):
                thought = string(block.get("thinking"))
                self.draft.events.append(Reasoning(line=line, at=at, text=thought, response=response))
        text = "\n".join(filter(None, (string(block.get("text")) for kind, block in by_kind if kind == "text")))
        usage = usage_of(message.get("usage"))
        if text or usage is not None:
            self.draft.events.append(
                AssistantMessage(line=line, at=at, text=text, response=response, model=model, usage=usage)
            )
        for number, (kind, block) in enumerate(by_kind, 1):
            if kind in _CALLS:
                self._add_call(block, f"{line}.{number}", response, line, at)
            elif kind.endswith(_RESULT_ENDING):
                self._add_result(block, line, at)
            elif kind not in ("text", "thinking", "redacted_thinking"):
                raw = blocks[number - 1]
                self._keep(f"block/{kind}" if kind else "unreadable", raw, line, at)

    def _add_call(self, block: dict[str, Any], place: str, response: str, line: int, at: float | None) -> None:
        tool = string(block.get("name"))
        tool_input = arguments_of(block.get("input"))
        call_id = self._matcher.open_call(RequestedCall(string(block.get("id")), tool, tool_input), place)
        # Programmatic tool calling: the call was made by code that the model wrote, and is recorded as any other.
        caller = string(mapping(block.get("caller")).get("type"))
        self.draft.events.append(
            ToolCall(
                line=line,
                at=at,
                call_id=call_id,
                tool=tool,
                kind=kind_by_name(tool),
                input=tool_input,
                response=response,
                script="" if caller == "direct" else caller,
            )
        )

    def _add_result(self, block: dict[str, Any], line: int, at: float | None) -> None:
        call_id = self._matcher.close_call(string(block.get("tool_use_id")))
        if not call_id:
            self._keep("result without a call", block, line, at)
            return
        content, flag = block.get("content"), block.get("is_error")
        failed = flag if isinstance(flag, bool) else None
        detail: dict[str, Any] = {}
        code = string(mapping(content).get("error_code"))
        if code:
            failed, detail = True, {"error": code}
        images = sum(mapping(part).get("type") in _PICTURES for part in sequence(content))
        if images:
            detail = {**detail, "images": images}
        self.draft.events.append(
            ToolResult(line=line, at=at, call_id=call_id, text=text_of(content), is_error=failed, detail=detail)
        )

    def _keep(self, name: str, raw: Any, line: int, at: float | None) -> None:
        self.draft.events.append(Other(line=line, at=at, name=name, raw=raw))


def _conversation_id(conversation: Conversation) -> str:
    """The conversation's own id, else a digest of its beginning, which stays the same when it grows."""
    for name in _ID_KEYS:
        value = conversation.about.get(name)
        if value and isinstance(value, str | int) and not isinstance(value, bool):
            return str(value)
    beginning = msgspec.json.encode([conversation.about.get("system"), conversation.messages[:1]], order="sorted")
    return f"messages-{sha256(beginning).hexdigest()[:16]}"


def usage_of(value: object) -> Usage | None:
    """Tokens of a response; this interface does not count cached tokens as input."""
    stated = mapping(value)
    if "input_tokens" not in stated and "output_tokens" not in stated:
        return None
    return Usage(
        input=count(stated.get("input_tokens")),
        output=count(stated.get("output_tokens")),
        cache_read=count(stated.get("cache_read_input_tokens")),
        cache_write=count(stated.get("cache_creation_input_tokens")),
        cache_write_hour=count(mapping(stated.get("cache_creation")).get("ephemeral_1h_input_tokens")),
    )


class MessagesReader:
    """Reads Anthropic messages as JSON or JSONL."""

    agent = AGENT

    def framing(self, path: str) -> Framing:
        return "document"

    def detect(self, head: bytes, path: str) -> bool:
        return not path.endswith(_OTHERS_NAME) and holds_conversations(
            head, are_anthropic_messages, find_request_messages
        )

    def parser(self, path: str, part: str = "") -> Parser:
        return MessagesParser(path)


READER = MessagesReader()
