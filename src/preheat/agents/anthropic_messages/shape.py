"""Which messages are Anthropic messages, and which requests go on with an earlier one.

Knows nothing of what the messages mean. Strict: plain texts alone could be anybody's, so something that only this interface
has must be there: a content block of its own, or a `system` beside the messages.
"""

from typing import Any
from zlib import crc32

import msgspec

from preheat.agents.chat import mapping, sequence, string
from preheat.agents.conversations import Conversation

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
        any(map(_has_sign, messages))
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


def _has_sign(message: dict[str, Any]) -> bool:
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
