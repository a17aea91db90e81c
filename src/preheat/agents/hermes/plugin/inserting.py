"""Inserts text into what Hermes is about to show the model: an advisory into a tool's result, messages into a request.

Standard library only. Everything else stays the same to the byte. Input of an unexpected shape gives None.
"""

import json
from typing import Any

ADVISORY = "preheat_advisory"
"""The key of our advisory in a result; the reader of sessions takes it out again."""
_LONG_RESULT = 60_000
"""Characters from which Hermes may show the model the beginning of a result only."""
_SENT_FIELDS = ("role", "content", "tool_calls", "tool_call_id")
"""The fields of a message that are sent; the others are Hermes's own, and no provider knows them."""
_JSON = json.JSONDecoder()


def with_advisory(result: str, advisory: str) -> str | None:
    """A result with an advisory in its first JSON object: after the object, it would hide the exit code from Hermes."""
    start = len(result) - len(result.lstrip())
    found = _read_object(result, start)
    if found is None or ADVISORY in found[0]:
        return None
    value, end = found
    entry = f"{json.dumps(ADVISORY)}: {_encode_text(advisory)}"
    if not value:
        return f"{result[: start + 1]}{entry}{result[start + 1 :]}"
    if end - start > _LONG_RESULT:
        return f"{result[: start + 1]}{entry}, {result[start + 1 :]}"
    return f"{result[: end - 1]}, {entry}{result[end - 1 :]}"


def with_output(result: str, output: str) -> str | None:
    """A command's result with its output replaced."""
    found = _read_object(result, len(result) - len(result.lstrip()))
    if found is None or not isinstance(found[0].get("output"), str):
        return None
    value, end = found
    value["output"] = _clean(output)
    return json.dumps(value, ensure_ascii=False) + result[end:]


def _read_object(text: str, start: int) -> tuple[dict[str, Any], int] | None:
    try:
        value, end = _JSON.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    return (value, end) if isinstance(value, dict) else None


def _encode_text(text: str) -> str:
    return json.dumps(_clean(text), ensure_ascii=False)


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def with_messages(request: Any, messages: list[dict[str, Any]]) -> list[dict[str, Any]] | None:
    """The messages of a request with ours after the system message; only for the shape that most providers share."""
    sent = request.get("messages") if isinstance(request, dict) else None
    if not isinstance(sent, list) or len(sent) < 2 or "input" in request or "system" in request:
        return None
    if not all(isinstance(each, dict) and isinstance(each.get("role"), str) for each in sent):
        return None
    if sent[0]["role"] not in ("system", "developer") or sent[1]["role"] not in ("user", "assistant"):
        return None
    return [sent[0], *({name: each[name] for name in _SENT_FIELDS if name in each} for each in messages), *sent[1:]]


def valid_messages(found: Any) -> list[dict[str, Any]]:
    """The messages of an answer; none unless all of them are valid."""
    all_valid = isinstance(found, list) and all(
        isinstance(each, dict) and isinstance(each.get("role"), str) for each in found
    )
    return found if all_valid else []
