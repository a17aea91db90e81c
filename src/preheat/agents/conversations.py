"""Conversations in a file: a list of messages, an object with `messages`, a list of such objects, or one of these a line.

Knows no provider's messages: a judge says whether messages are its own.
"""

import json
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from preheat.agents.chat import mapping
from preheat.agents.outline import CUT, beginning_of, outline
from preheat.agents.parsing import decode_json, whole_lines

MessageJudge: TypeAlias = Callable[[list[Any], dict[str, Any]], bool]
"""Says whether messages, given the object that contains them, are of the format that is looked for."""

MessageFinder: TypeAlias = Callable[[dict[str, Any]], tuple[dict[str, Any], list[Any]] | None]
"""Finds the conversation in a value: the object that describes it and its messages; None if there is none."""

_DECODER = json.JSONDecoder()
_MAX_ITEMS = 8


class Conversation(NamedTuple):
    """Messages, and the object that contained them."""

    about: dict[str, Any]
    messages: list[Any]
    line: int
    """The first line of the conversation in a file of lines, else 1."""


def find_messages(value: dict[str, Any]) -> tuple[dict[str, Any], list[Any]] | None:
    """The messages of an object with a list `messages`."""
    messages = value.get("messages")
    return (value, messages) if isinstance(messages, list) else None


def read_conversations(
    block: bytes, opener: MessageFinder = find_messages
) -> tuple[list[Conversation], list[tuple[str, int]]]:
    """The conversations in a file, and the problems with what could not be read, each with its line."""
    try:
        document = decode_json(block)
    except (ValueError, RecursionError) as error:
        if block.lstrip()[:1] != b"{" or b"\n" not in block.strip():
            return [], [(f"not a whole JSON document ({str(error)[:120]})", 1)]
        return _of_lines(block, opener)
    return _of_document(document, opener)


def _of_document(document: object, opener: MessageFinder) -> tuple[list[Conversation], list[tuple[str, int]]]:
    if isinstance(document, dict):
        if opened := opener(document):
            return [Conversation(*opened, 1)], []
        if "role" in document:
            return [Conversation({}, [document], 1)], []
    if not isinstance(document, list):
        return [], [("neither messages nor a conversation", 1)]
    found = [opened for item in document if (opened := opener(mapping(item)))]
    if found:
        skipped = len(document) - len(found)
        problems = [(f"{skipped} items without `messages`; passed over", 1)] if skipped else []
        return [Conversation(*opened, 1) for opened in found], problems
    if document and all(isinstance(item, list) for item in document):
        return [Conversation({}, item, 1) for item in document], []
    return [Conversation({}, document, 1)], []


def _of_lines(block: bytes, opener: MessageFinder) -> tuple[list[Conversation], list[tuple[str, int]]]:
    """One conversation a line, or one message a line."""
    found: list[Conversation] = []
    problems: list[tuple[str, int]] = []
    messages: list[Any] = []
    first = 1
    for line, text in enumerate(whole_lines(block), 1):
        if not text.strip():
            continue
        try:
            value = decode_json(text)
        except (ValueError, RecursionError) as error:
            problems.append((f"not a JSON record ({str(error)[:120]}); passed over", line))
            continue
        if opened := opener(mapping(value)):
            found.append(Conversation(*opened, line))
        else:
            first = first if messages else line
            messages.append(value)
    if messages:
        found.append(Conversation({}, messages, first))
    return found, problems


def holds_conversations(head: bytes, judge: MessageJudge, opener: MessageFinder = find_messages) -> bool:
    """Whether a file whose first bytes are `head` holds messages that the judge accepts; `head` may be cut off anywhere."""
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if text[:1] not in (b"{", b"["):
        return False
    try:
        document = decode_json(text)
    except (ValueError, RecursionError):
        return _cut_off_fits(text.decode("utf-8", "replace"), judge, opener)
    if isinstance(document, list):
        return _items_fit(document, judge, opener)
    return _items_fit([document], judge, opener)


def _items_fit(items: list[Any], judge: MessageJudge, opener: MessageFinder) -> bool:
    """Whether the judge accepts the items, which are conversations, lists of messages, or messages."""
    opened = [opener(mapping(item)) for item in items[:_MAX_ITEMS]]
    if any(opened):
        return all(pair is not None and judge(pair[1], pair[0]) for pair in opened)
    if items and all(isinstance(item, list) for item in items):
        return all(judge(item, {}) for item in items)
    return judge(items, {})


def _cut_off_fits(text: str, judge: MessageJudge, opener: MessageFinder) -> bool:
    """Whether the judge accepts the complete values of a cut-off text: lines, items of a list, or messages of an object."""
    if text.startswith("["):
        return _items_fit(_values(text, 1), judge, opener)
    if values := _values(text, 0):
        return _items_fit(values, judge, opener)
    members = outline(text.encode("utf-8", "replace"))
    about = {name: value for name, value in members.items() if value is not CUT}
    if opened := opener(about):
        return judge(opened[1], opened[0])
    begin = beginning_of(text.encode("utf-8", "replace"), "messages")
    if members.get("messages") is not CUT or not begin.startswith("["):
        return False
    return judge(_values(begin, 1), about)


def _values(text: str, at: int) -> list[Any]:
    """The complete JSON values from a position on, without white space and commas between them."""
    found: list[Any] = []
    while True:
        while at < len(text) and text[at] in " \t\r\n,":
            at += 1
        try:
            value, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            return found
        found.append(value)
