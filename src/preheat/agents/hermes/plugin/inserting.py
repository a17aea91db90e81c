"""Puts something into what Hermes is about to show the model: a word into a tool's result, messages into a request.

Standard library only. All else stays as it is to the byte. What does not look as expected is left alone: None then.
"""

import json
from typing import Any

ADVISORY = "preheat_advisory"
"""The key of a word of ours; the reader of sessions takes it out again (`results.py` beside this folder)."""
_LONG = 60_000
"""Characters from which Hermes may show the model the beginning of a result only."""
_SENT = ("role", "content", "tool_calls", "tool_call_id")
"""Of a message; the rest is the program's own and no provider knows it."""
_JSON = json.JSONDecoder()


def with_advisory(result: str, advisory: str) -> str | None:
    """A result with a word in its first JSON object: behind it, the program would not find the exit code any more."""
    start = len(result) - len(result.lstrip())
    found = _object(result, start)
    if found is None or ADVISORY in found[0]:
        return None
    value, end = found
    entry = f"{json.dumps(ADVISORY)}: {_text(advisory)}"
    if not value:
        return f"{result[: start + 1]}{entry}{result[start + 1 :]}"
    if end - start > _LONG:
        return f"{result[: start + 1]}{entry}, {result[start + 1 :]}"
    return f"{result[: end - 1]}, {entry}{result[end - 1 :]}"


def with_output(result: str, output: str) -> str | None:
    """A command's result with another output."""
    found = _object(result, len(result) - len(result.lstrip()))
    if found is None or not isinstance(found[0].get("output"), str):
        return None
    value, end = found
    value["output"] = _clean(output)
    return json.dumps(value, ensure_ascii=False) + result[end:]


def _object(text: str, start: int) -> tuple[dict[str, Any], int] | None:
    try:
        value, end = _JSON.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    return (value, end) if isinstance(value, dict) else None


def _text(text: str) -> str:
    return json.dumps(_clean(text), ensure_ascii=False)


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def with_messages(request: Any, messages: list[dict[str, Any]]) -> list[dict[str, Any]] | None:
    """The messages of a request with ours behind the system's; only of the shape that most providers share."""
    sent = request.get("messages") if isinstance(request, dict) else None
    if not isinstance(sent, list) or len(sent) < 2 or "input" in request or "system" in request:
        return None
    if not all(isinstance(each, dict) and isinstance(each.get("role"), str) for each in sent):
        return None
    if sent[0]["role"] not in ("system", "developer") or sent[1]["role"] not in ("user", "assistant"):
        return None
    return [sent[0], *({name: each[name] for name in _SENT if name in each} for each in messages), *sent[1:]]


def seeds(found: Any) -> list[dict[str, Any]]:
    """Messages of an answer; nothing unless all of them are."""
    whole = isinstance(found, list) and all(
        isinstance(each, dict) and isinstance(each.get("role"), str) for each in found
    )
    return found if whole else []
