"""Which documents are OpenAI chat messages, and how the conversations lie in them.

Knows nothing of what the messages mean. Strict: many agents write something alike, and theirs must not be taken.
"""

import json
from typing import Any, NamedTuple

from preheat.agents.chat import mapping
from preheat.agents.parsing import loose, whole_lines

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
_JSON = json.JSONDecoder()
_LOOKED_AT = 8


class Conversation(NamedTuple):
    """Messages, and the object they stood in."""

    about: dict[str, Any]
    messages: list[Any]
    line: int
    """Where the conversation begins in a file of lines, else 1."""


def is_message(value: object) -> bool:
    """A message as the interface defines it, and nothing else in it."""
    if not isinstance(value, dict) or value.get("role") not in ROLES or not _MESSAGE_KEYS.issuperset(value):
        return False
    content = value.get("content")
    if isinstance(content, list):
        return all(isinstance(part, dict) and part.get("type") in _PART_TYPES for part in content)
    if isinstance(content, str) or (content is None and "content" in value):
        return True
    return "content" not in value and ("tool_calls" in value or "function_call" in value)


def is_conversation(value: object) -> bool:
    messages = mapping(value).get("messages")
    if not isinstance(messages, list) or not messages or not _FOREIGN_KEYS.isdisjoint(mapping(value)):
        return False
    return all(is_message(message) for message in messages[:_LOOKED_AT])


def conversations(block: bytes) -> tuple[list[Conversation], list[tuple[str, int]]]:
    """What is in a file, and what could not be read of it: each with its line."""
    try:
        document = loose(block)
    except (ValueError, RecursionError) as error:
        if block.lstrip()[:1] != b"{" or b"\n" not in block.strip():
            return [], [(f"not a whole JSON document ({str(error)[:120]})", 1)]
        return _of_lines(block)
    return _of_document(document)


def _of_document(document: object) -> tuple[list[Conversation], list[tuple[str, int]]]:
    if isinstance(document, dict) and isinstance(document.get("messages"), list):
        return [Conversation(document, document["messages"], 1)], []
    if isinstance(document, dict) and "role" in document:
        return [Conversation({}, [document], 1)], []
    if not isinstance(document, list):
        return [], [("neither messages nor a conversation", 1)]
    if any("messages" in mapping(item) for item in document):
        found = [item for item in document if isinstance(mapping(item).get("messages"), list)]
        lost = len(document) - len(found)
        problems = [(f"{lost} items without `messages`; passed over", 1)] if lost else []
        return [Conversation(item, item["messages"], 1) for item in found], problems
    if document and all(isinstance(item, list) for item in document):
        return [Conversation({}, item, 1) for item in document], []
    return [Conversation({}, document, 1)], []


def _of_lines(block: bytes) -> tuple[list[Conversation], list[tuple[str, int]]]:
    """One conversation a line, or one message a line."""
    found: list[Conversation] = []
    problems: list[tuple[str, int]] = []
    messages: list[Any] = []
    first = 1
    for line, text in enumerate(whole_lines(block), 1):
        if not text.strip():
            continue
        try:
            value = loose(text)
        except (ValueError, RecursionError) as error:
            problems.append((f"not a JSON record ({str(error)[:120]}); passed over", line))
            continue
        if isinstance(mapping(value).get("messages"), list):
            found.append(Conversation(value, value["messages"], line))
        else:
            first = first if messages else line
            messages.append(value)
    if messages:
        found.append(Conversation({}, messages, first))
    return found, problems


def fits(head: bytes) -> bool:
    """Whether a file that begins so holds chat messages; it may be cut off anywhere."""
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if text[:1] not in (b"{", b"["):
        return False
    try:
        document = loose(text)
    except (ValueError, RecursionError):
        return _cut_off_fits(text.decode("utf-8", "replace"))
    if isinstance(document, list):
        return bool(document) and (
            all(map(is_message, document[:_LOOKED_AT]))
            or all(map(is_conversation, document[:_LOOKED_AT]))
            or all(isinstance(item, list) and item and all(map(is_message, item[:_LOOKED_AT])) for item in document)
        )
    return is_conversation(document) or is_message(document)


def _cut_off_fits(text: str) -> bool:
    """By the first values that are whole: lines, items of a list, or messages of an object."""
    if text.startswith("{"):
        first, _ = _value(text, 0)
        if first is not None:  # lines
            return is_conversation(first) or is_message(first)
        at = text.find('"messages"')
        begin = text.find("[", at)
        before = text[:at] if at >= 0 else text
        if at < 0 or text[at + 10 : begin].strip() != ":" or any(f'"{key}"' in before for key in _FOREIGN_KEYS):
            return False
        if before.count("{") - before.count("}") != 1:
            return False
        return _items_fit(text, begin + 1, conversations_too=False)
    return _items_fit(text, 1, conversations_too=True)


def _items_fit(text: str, at: int, conversations_too: bool) -> bool:
    seen = 0
    while seen < _LOOKED_AT:
        item, at = _value(text, at)
        if item is None:
            break
        if not (is_message(item) or (conversations_too and is_conversation(item))):
            return False
        seen += 1
    return seen > 0


def _value(text: str, at: int) -> tuple[Any, int]:
    """The value at a place, past white space and a comma; None if it is not whole."""
    while at < len(text) and text[at] in " \t\r\n,":
        at += 1
    try:
        return _JSON.raw_decode(text, at)
    except (ValueError, RecursionError):
        return None, at
