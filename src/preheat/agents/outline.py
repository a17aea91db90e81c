"""The first keys of a JSON document that may be cut off anywhere, to tell by its head whose it is.

Knows no agent.
"""

import json
from functools import lru_cache
from typing import Any

_JSON = json.JSONDecoder()
_SPACE = " \t\r\n"

CUT: Any = object()
"""Stands for a value that the head does not hold whole."""


@lru_cache(maxsize=2)
def outline(head: bytes) -> dict[str, Any]:
    """The members of the first object: the document itself, its first item, or its first line. Empty if there is none."""
    text = head.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    at = _past_space(text, 0)
    if text[at : at + 1] == "[":
        at = _past_space(text, at + 1)
    if text[at : at + 1] != "{":
        return {}
    found: dict[str, Any] = {}
    at += 1
    while True:
        at = _past_space(text, at)
        name, at = _value(text, at)
        at = _past_space(text, at)
        if not isinstance(name, str) or text[at : at + 1] != ":":
            return found
        value, at = _value(text, _past_space(text, at + 1))
        found[name] = value
        at = _past_space(text, at)
        if value is CUT or text[at : at + 1] != ",":
            return found
        at += 1


def _past_space(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at


def _value(text: str, at: int) -> tuple[Any, int]:
    try:
        return _JSON.raw_decode(text, at)
    except (ValueError, RecursionError):
        return CUT, at


def beginning_of(head: bytes, name: str) -> str:
    """What can be seen of a member's value as it stands, where the head does not hold it whole."""
    text = head.decode("utf-8", "replace")
    at = text.find(f'"{name}"')
    return text[at + len(name) + 2 :].lstrip(" \t\r\n:") if at >= 0 else ""
