"""What came of a call, in each of the ways that Cline and the extensions made from it have written it.

The CLI gives every item of a batch (a command, a file) its own `success`; the extensions only wrote sentences, which are
known word for word and count only where they begin the result. Knows nothing of sessions.
"""

import re
from typing import Any

import msgspec

from preheat.agents.chat import images_in, mapping, sequence, string, text_of
from preheat.agents.parsing import decode_json, frame_of

HEADER = re.compile(r"\[([a-z][a-z_]{2,40})(?: for '.{0,20000}?')?\] Result:\s?", re.DOTALL)
"""The beginning of the result of a call that was a tag in the model's text."""
_EXIT_ERROR = re.compile(r"Command exited with code (-?\d{1,10})\s*\Z")
_EXIT_HEADER = re.compile(r"\A\[Command exited with code (-?\d{1,10})\]\n*")
_EXIT_STATUS = re.compile(r"Exit code: (-?\d{1,10})\s*\Z")
_RAN = "Command executed in "
_OUTPUT = "\nOutput:"
_FAILED = ("The tool execution failed with the following error:", "[[ERROR]")
_DENIED = ("The user denied this operation",)
_LONGEST_QUERY = 200
_MOST_ITEMS = 50


class RecordedResult(msgspec.Struct, frozen=True):
    """What the program recorded of a finished call."""

    text: str
    is_error: bool | None = None
    exit_code: int | None = None
    detail: dict[str, Any] = {}
    frame: tuple[str, str] = ("", "")


def result_of(block: dict[str, Any]) -> RecordedResult:
    """The result in a `tool_result` block."""
    content = block.get("content")
    flag = block.get("is_error") if isinstance(block.get("is_error"), bool) else None
    items = _items(content)
    if items:
        ending = _of_items(items)
    else:
        ending = result_of_text(text_of(content))
        if images := images_in(content):
            ending = msgspec.structs.replace(ending, detail={**ending.detail, "images": images})
    return ending if flag is None else msgspec.structs.replace(ending, is_error=flag or bool(ending.is_error))


def result_of_text(text: str) -> RecordedResult:
    """The result in a text that an extension wrote."""
    header = HEADER.match(text)
    if header is not None:
        text = text[header.end() :]
    if text.startswith(_FAILED) or text.startswith('{"status":"error"'):
        return RecordedResult(text, is_error=True)
    if text.startswith(_DENIED) or text.startswith('{"status":"denied"'):
        return RecordedResult(text, is_error=True, detail={"denied": True})
    if not text.startswith(_RAN):
        return RecordedResult(text)
    status, mark, output = text.partition(_OUTPUT)
    code = _EXIT_STATUS.search(status[-400:])
    if code is None:
        return RecordedResult(text)
    output = output.removeprefix("\n") if mark else text
    return RecordedResult(output, exit_code=int(code[1]), frame=frame_of(text, output))


def _items(content: object) -> list[dict[str, Any]]:
    """The items of a batch; one tool writes its only item as JSON text."""
    if isinstance(content, str) and content.startswith("{") and '"success"' in content:
        try:
            content = [decode_json(content.encode("utf-8", "replace"))]
        except (ValueError, RecursionError):
            return []
    items = [mapping(item) for item in sequence(content)]
    return items if items and all("success" in item and "query" in item for item in items) else []


def _of_items(items: list[dict[str, Any]]) -> RecordedResult:
    """The result of a batch: failed if one item failed; the detail says which."""
    texts: list[str] = []
    outcomes: list[dict[str, Any]] = []
    exit_code: int | None = None
    for item in items:
        text, code = _of_item(item)
        query = string(item.get("query"))[:_LONGEST_QUERY]
        texts.append(text if len(items) == 1 else f"[{query}]\n{text}")
        outcomes.append({"query": query, "success": item.get("success") is True})
        if code is not None:
            outcomes[-1]["exit_code"] = code
            exit_code = code if exit_code is None else exit_code
    failed = any(not outcome["success"] for outcome in outcomes)
    detail: dict[str, Any] = {"items": outcomes[:_MOST_ITEMS]} if len(items) > 1 else {}
    return RecordedResult("\n".join(texts), failed, exit_code, detail)


def _of_item(item: dict[str, Any]) -> tuple[str, int | None]:
    text, error = text_of(item.get("result")), string(item.get("error"))
    stated = _EXIT_ERROR.match(error)
    if item.get("success") is True or stated is None:
        return text or error, None
    return _EXIT_HEADER.sub("", text, count=1), int(stated[1])
