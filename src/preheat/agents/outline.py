"""The first members of a JSON document that may be cut off anywhere, to recognise its format.

Knows no agent.
"""

import json
from functools import lru_cache
from typing import Any

_JSON = json.JSONDecoder()
_SPACE = " \t\r\n"

CUT: Any = object()
"""Replaces a value that is cut off."""


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
    """The text of a member's value up to where the head is cut off."""
    text = head.decode("utf-8", "replace")
    at = text.find(f'"{name}"')
    return text[at + len(name) + 2 :].lstrip(" \t\r\n:") if at >= 0 else ""
