"""Files that are read whole: the parser for them, JSON values and conversations in them, and the first members of a head.

A file may be one document or lines, may hold several sessions, and a head of it may be cut off anywhere. Knows no format: a
judge says whether the messages of a conversation are its own.
"""

import errno
import json
import os
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple, TypeAlias

from preheat.agents.chat import mapping
from preheat.agents.parsing import MAX_PROBLEMS, SENSELESS, Draft, decode_json, whole_lines
from preheat.agents.reader import Heading
from preheat.files import FileTooLarge, read_file
from preheat.limits import Limits, current_limits, describe_limit
from preheat.model.session import Problem, Session
from preheat.remotes import normalise_remote

# The first members of a JSON document that may be cut off anywhere, to recognise its format.
_JSON = json.JSONDecoder()
_SPACE = " \t\r\n"

_MANY_BYTES = 16 * 1024 * 1024
"""Smaller documents cannot have so many values that counting them is worth it."""

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
        name, at = _decode_value(text, at)
        at = _past_space(text, at)
        if not isinstance(name, str) or text[at : at + 1] != ":":
            return found
        value, at = _decode_value(text, _past_space(text, at + 1))
        found[name] = value
        at = _past_space(text, at)
        if value is CUT or text[at : at + 1] != ",":
            return found
        at += 1


def _past_space(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at


def _decode_value(text: str, at: int) -> tuple[Any, int]:
    try:
        return _JSON.raw_decode(text, at)
    except (ValueError, RecursionError):
        return CUT, at


def beginning_of(head: bytes, name: str) -> str:
    """The text of a member's value up to where the head is cut off."""
    text = head.decode("utf-8", "replace")
    at = text.find(f'"{name}"')
    return text[at + len(name) + 2 :].lstrip(" \t\r\n:") if at >= 0 else ""


def read_whole(path: str) -> bytes:
    """The bytes of a JSON document beside or in place of a session's file, within the limits. Raises OSError."""
    limits = current_limits()
    data = read_file(path, limits.document_bytes, f"; {describe_limit('document_mb')}")
    check_values(data, limits)
    return data


def check_values(data: bytes, limits: Limits) -> None:
    """Raise FileTooLarge for a document with more JSON values than the limit: a value takes up to 25 times its bytes."""
    if len(data) > _MANY_BYTES and sum(map(data.count, (b",", b"[", b"{"))) > limits.values:
        raise FileTooLarge(errno.EFBIG, f"it has more than {limits.values:,} JSON values; {describe_limit('values')}")


class DocumentParser:
    """Reads a file whole and returns all its sessions; problems of the file itself are given to the first session."""

    agent: ClassVar[str]

    def __init__(self, path: str) -> None:
        self.path = path
        self.drafts: list[Draft] = []
        self._names: set[str] = set()
        self._problems: list[Problem] = []

    # Each format's parser implements this.
    def read(self, block: bytes, line: int) -> None:
        """Add a draft for each session in the file."""
        raise NotImplementedError

    # Shared by all of them.
    def feed(self, block: bytes, line: int) -> None:
        try:
            self.read(block, line)
        except RecursionError:
            self.add_problem("nested too deeply", line)
        except SENSELESS as error:
            self.add_problem(f"a record that makes no sense ({str(error)[:120]}); not read from there on", line)
        if not self.drafts:
            self.add(Draft(Heading(id=self.stem)))
        self.drafts[0].problems += self._problems
        self._problems = []

    def add(self, draft: Draft) -> None:
        """Add a session of the file; a second one with the same id gets a number."""
        heading = draft.heading
        if heading.id in self._names:
            heading.id = f"{heading.id}-{len(self.drafts) + 1}"
        self._names.add(heading.id)
        self.drafts.append(draft)

    def add_problem(self, message: str, line: int) -> None:
        self._problems.append(Problem(message, self.path, line))

    def add_problems(self, found: list[tuple[str, int]], line: int) -> None:
        """Add problems whose lines are counted from the first line of the block."""
        for message, at in found:
            self.add_problem(message, line + at - 1)

    @property
    def stem(self) -> str:
        """The file's name without its suffixes."""
        return os.path.basename(self.path.replace("\\", "/")).lstrip(".").partition(".")[0] or self.agent

    def take(self) -> list[Session]:
        return [draft.take(self.agent, self.path) for draft in self.drafts if draft.heading.id]

    def save(self) -> bytes | None:
        return None

    def load(self, state: bytes) -> None:
        """A document is always read whole."""


def read_values(block: bytes) -> tuple[list[tuple[Any, int]], list[tuple[str, int]]]:
    """The JSON values of a file (one a line, or a list in one document) with their lines, and the problems with the rest."""
    try:
        document = decode_json(block)
    except (ValueError, RecursionError):
        return _values_of_lines(block)
    return [(value, 1) for value in (document if isinstance(document, list) else [document])], []


def _values_of_lines(block: bytes) -> tuple[list[tuple[Any, int]], list[tuple[str, int]]]:
    found: list[tuple[Any, int]] = []
    problems: list[tuple[str, int]] = []
    for line, text in enumerate(whole_lines(block), 1):
        if not text.strip():
            continue
        try:
            found.append((decode_json(text), line))
        except (ValueError, RecursionError) as error:
            if len(problems) < MAX_PROBLEMS:
                problems.append((f"not a JSON record ({str(error)[:120]}); passed over", line))
    return found, problems


# Conversations in a file
MessageJudge: TypeAlias = Callable[[list[Any], dict[str, Any]], bool]
"""Says whether messages, given the object that contains them, are of the format that is looked for."""

MessageFinder: TypeAlias = Callable[[dict[str, Any]], tuple[dict[str, Any], list[Any]] | None]
"""Finds the conversation in a value: the object that describes it and its messages; None if there is none."""

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
    block: bytes, finder: MessageFinder = find_messages
) -> tuple[list[Conversation], list[tuple[str, int]]]:
    """The conversations in a file, and the problems with what could not be read, each with its line."""
    try:
        document = decode_json(block)
    except (ValueError, RecursionError) as error:
        if block.lstrip()[:1] != b"{" or b"\n" not in block.strip():
            return [], [(f"not a whole JSON document ({str(error)[:120]})", 1)]
        return _conversations_of_lines(block, finder)
    return _conversations_of_document(document, finder)


def _conversations_of_document(
    document: object, finder: MessageFinder
) -> tuple[list[Conversation], list[tuple[str, int]]]:
    if isinstance(document, dict):
        if found_messages := finder(document):
            return [Conversation(*found_messages, 1)], []
        if "role" in document:
            return [Conversation({}, [document], 1)], []
    if not isinstance(document, list):
        return [], [("neither messages nor a conversation", 1)]
    found = [found_messages for item in document if (found_messages := finder(mapping(item)))]
    if found:
        skipped = len(document) - len(found)
        problems = [(f"{skipped} items without `messages`; passed over", 1)] if skipped else []
        return [Conversation(*found_messages, 1) for found_messages in found], problems
    if document and all(isinstance(item, list) for item in document):
        return [Conversation({}, item, 1) for item in document], []
    return [Conversation({}, document, 1)], []


def _conversations_of_lines(block: bytes, finder: MessageFinder) -> tuple[list[Conversation], list[tuple[str, int]]]:
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
            if len(problems) < MAX_PROBLEMS:
                problems.append((f"not a JSON record ({str(error)[:120]}); passed over", line))
            continue
        if found_messages := finder(mapping(value)):
            found.append(Conversation(*found_messages, line))
        else:
            first = first if messages else line
            messages.append(value)
    if messages:
        found.append(Conversation({}, messages, first))
    return found, problems


def holds_conversations(head: bytes, judge: MessageJudge, finder: MessageFinder = find_messages) -> bool:
    """Whether a file whose first bytes are `head` holds messages that the judge accepts; `head` may be cut off anywhere."""
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if text[:1] not in (b"{", b"["):
        return False
    try:
        document = decode_json(text)
    except (ValueError, RecursionError):
        return _cut_off_fits(text.decode("utf-8", "replace"), judge, finder)
    if isinstance(document, list):
        return _items_fit(document, judge, finder)
    return _items_fit([document], judge, finder)


def _items_fit(items: list[Any], judge: MessageJudge, finder: MessageFinder) -> bool:
    """Whether the judge accepts the items, which are conversations, lists of messages, or messages."""
    found_messages = [finder(mapping(item)) for item in items[:_MAX_ITEMS]]
    if any(found_messages):
        return all(pair is not None and judge(pair[1], pair[0]) for pair in found_messages)
    if items and all(isinstance(item, list) for item in items):
        return all(judge(item, {}) for item in items)
    return judge(items, {})


def _cut_off_fits(text: str, judge: MessageJudge, finder: MessageFinder) -> bool:
    """Whether the judge accepts the complete values of a cut-off text: lines, items of a list, or messages of an object."""
    if text.startswith("["):
        return _items_fit(_complete_values(text, 1), judge, finder)
    if values := _complete_values(text, 0):
        return _items_fit(values, judge, finder)
    members = outline(text.encode("utf-8", "replace"))
    about = {name: value for name, value in members.items() if value is not CUT}
    if found_messages := finder(about):
        return judge(found_messages[1], found_messages[0])
    begin = beginning_of(text.encode("utf-8", "replace"), "messages")
    if members.get("messages") is not CUT or not begin.startswith("["):
        return False
    return judge(_complete_values(begin, 1), about)


def _complete_values(text: str, at: int) -> list[Any]:
    """The complete JSON values from a position on, without white space and commas between them."""
    found: list[Any] = []
    while True:
        while at < len(text) and text[at] in " \t\r\n,":
            at += 1
        try:
            value, at = _JSON.raw_decode(text, at)
        except (ValueError, RecursionError):
            return found
        found.append(value)


# Tasks of benchmarks, each from a repository of others.
_TASK = re.compile(r"^([A-Za-z0-9][\w.-]*?)__([A-Za-z0-9][\w.-]*)-\d+(?:\.|$)")


def repository_of_task(name: str) -> str:
    """The repository that a task is from by its name, `owner__name-number`; empty for other names."""
    found = _TASK.match(name)
    return normalise_remote(f"github.com/{found[1]}/{found[2]}") if found else ""
