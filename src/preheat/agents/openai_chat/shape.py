"""Which messages are OpenAI chat messages.

Knows nothing of what the messages mean, nor of how they lie in a file. Strict: many agents write something alike, and
theirs must not be taken.
"""

from typing import Any

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
    if not isinstance(value, dict) or value.get("role") not in ROLES or not _MESSAGE_KEYS.issuperset(value):
        return False
    content = value.get("content")
    if isinstance(content, list):
        return all(isinstance(part, dict) and part.get("type") in _PART_TYPES for part in content)
    if isinstance(content, str) or (content is None and "content" in value):
        return True
    return "content" not in value and ("tool_calls" in value or "function_call" in value)


def are_chat_messages(messages: list[Any], about: dict[str, Any]) -> bool:
    """Whether messages are OpenAI chat messages, in an object that is no other format's."""
    if not messages or not _FOREIGN_KEYS.isdisjoint(about):
        return False
    return all(is_chat_message(message) for message in messages[:_MAX_MESSAGES])
