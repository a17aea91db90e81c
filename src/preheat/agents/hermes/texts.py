"""Reads a message of Hermes: its text, a compaction's summary in it, and whether the program wrote it.

Knows no database and no order of messages.
"""

import json
from hashlib import blake2b
from typing import Any, NamedTuple

from preheat.agents.parsing import decode_json

_MULTIMODAL = "\x00json:"
_IMAGE_TYPES = ("image_url", "image", "input_image")
_STRIPPED_IMAGE = "[Attached image — stripped after compression]"

_SUMMARY_STARTS = ("[CONTEXT COMPACTION", "[CONTEXT SUMMARY]:")
_SUMMARY_END = "--- END OF CONTEXT SUMMARY"
_PRIOR_START = "[PRIOR CONTEXT"
_PRIOR_END = "[END OF PRIOR CONTEXT"

_PROGRAM_STARTS = (
    "[Your active task list was preserved",
    "[IMPORTANT: ",
    "[ASYNC DELEGATION",
    "[Continuing toward your standing goal]",
    "[System: ",
)
REVIEW = "Review the conversation above and "
"""The beginning of the prompt with which Hermes reviews a session by itself."""


class Content(NamedTuple):
    """The text of a message and how many images went with it."""

    text: str
    images: int = 0


class SummaryMessage(NamedTuple):
    """A message that contains a compaction's summary, and the text before and after it."""

    before: str
    summary: str
    after: str


def content_of(value: Any) -> Content:
    """A stored `content`: plain text, or a list of parts after a mark."""
    if value is None:
        return Content("")
    if not isinstance(value, str):
        return Content(json.dumps(value))
    if not value.startswith(_MULTIMODAL):
        return Content(value)
    encoded = value[len(_MULTIMODAL) :]
    try:
        parts = decode_json(encoded.encode())
    except (ValueError, RecursionError):
        return Content(encoded)
    if not isinstance(parts, list):
        return Content(encoded)
    texts, images = [], 0
    for part in parts:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict):
            text = part.get("text")
            if part.get("type") in _IMAGE_TYPES:
                images += 1
            elif isinstance(text, str) and text != _STRIPPED_IMAGE:
                texts.append(text)
    return Content("\n".join(texts), images)


def find_summary(text: str) -> SummaryMessage | None:
    """The summary of a compaction in a message, alone or merged with a neighbouring message."""
    start = text.lstrip()
    if start.startswith(_PRIOR_START) and _PRIOR_END in start:
        return _split_headings(start)
    if start.startswith(_SUMMARY_STARTS):
        # Older versions put the message after the summary.
        return SummaryMessage("", *_split_end(start))
    for mark in _SUMMARY_STARTS:
        before, found, rest = text.partition(f"\n\n{mark}")
        if found and _SUMMARY_END in rest:
            return SummaryMessage(before.strip(), *_split_end(mark + rest))
    return None


def _split_headings(text: str) -> SummaryMessage:
    """Split a message of newer versions: the message is first, under a heading, and each further compaction adds one."""
    depth = 0
    while text.startswith(_PRIOR_START):
        text, depth = _after_line(text), depth + 1
    message, *summaries = text.split(_PRIOR_END, depth)
    return SummaryMessage(message.strip(), _split_end(_after_line(summaries[-1]))[0] if summaries else "", "")


def _after_line(text: str) -> str:
    return text.partition("\n")[2].strip()


def _split_end(text: str) -> tuple[str, str]:
    summary, _, rest = text.partition(_SUMMARY_END)
    return summary.strip(), _after_line(rest)


def is_written_by_program(text: str) -> bool:
    """Whether a user message is the program's own."""
    return text.lstrip().startswith((*_PROGRAM_STARTS, REVIEW))


def key_of(row: dict[str, Any], text: str | None = None) -> str:
    """A key that a message shares with its copies: of the calls it makes or answers, else of its role and text.

    Copies are stored with shortened results and without images, so these are not part of the key.
    """
    role = row.get("role")
    if role == "tool" and row.get("tool_call_id"):
        mark = f"result {row['tool_call_id']}"
    elif role == "assistant" and (calls := _readable_calls(row)):
        mark = "calls " + " ".join(call_id(call) for call in calls)
    else:
        mark = f"{role} {(content_of(row.get('content')).text if text is None else text).strip()}"
    return blake2b(mark.encode("utf-8", "replace"), digest_size=8).hexdigest()


def _readable_calls(row: dict[str, Any]) -> list[dict[str, Any]]:
    try:
        return calls_of(row)
    except (ValueError, RecursionError):
        return []


def calls_of(row: dict[str, Any]) -> list[dict[str, Any]]:
    """The tool calls of a message. Raises ValueError if they cannot be read."""
    value = row.get("tool_calls")
    if isinstance(value, str):
        value = decode_json(value.encode()) if value.strip() else None
    if isinstance(value, dict):
        value = [value]
    if value is None:
        return []
    if not isinstance(value, list):
        raise ValueError("`tool_calls` is no list")
    return [call for call in value if isinstance(call, dict)]


def call_id(call: dict[str, Any]) -> str:
    """A call's identifier; empty if it has none."""
    return str(call.get("id") or call.get("call_id") or "")
