"""Tools of Cline and of the extensions made from it: what each is for, how a call ended, and how errors are worded.

The CLI gives every item of a batch (a command, a file) its own `success`; the extensions only wrote sentences, which are
known word for word and count only at the beginning of a result. Knows nothing of sessions.
"""

import re
from typing import Any

import msgspec

from preheat.agents.chat import images_in, mapping, sequence, string, text_of
from preheat.agents.parsing import decode_json, frame_of
from preheat.model.outcome import Dialect
from preheat.model.session import ToolKind

_KINDS: dict[str, ToolKind] = {
    "run_commands": "shell",
    "execute_command": "shell",
    "read_command_output": "shell",
    "read_files": "read",
    "read_file": "read",
    "access_mcp_resource": "read",
    "editor": "edit",
    "apply_patch": "edit",
    "replace_in_file": "edit",
    "apply_diff": "edit",
    "insert_content": "edit",
    "search_and_replace": "edit",
    "search_replace": "edit",
    "edit_file": "edit",
    "edit": "edit",
    "write_to_file": "write",
    "search_codebase": "search",
    "search_files": "search",
    "list_files": "search",
    "list_code_definition_names": "search",
    "codebase_search": "search",
    "fetch_web_content": "web",
    "web_fetch": "web",
    "web_search": "web",
    "browser_action": "web",
    "plan_mode_respond": "plan",
    "update_todo_list": "plan",
    "spawn_agent": "delegate",
    "new_task": "delegate",
    "use_subagents": "delegate",
}
_NO_KIND = (
    "ask_question", "ask_followup_question", "attempt_completion", "use_mcp_tool", "switch_mode", "fetch_instructions",
    "condense", "summarize_task", "new_rule", "report_bug", "load_mcp_documentation", "use_skill", "skill",
    "run_slash_command", "generate_image", "generate_explanation", "act_mode_respond", "focus_chain",
)  # fmt: skip
NAMES = frozenset((*_KINDS, *_NO_KIND))
"""Every tool that may stand as a tag in the model's text."""


def kind_of(tool: str) -> ToolKind:
    """What the tool is for."""
    if tool.startswith("team_"):
        return "delegate"
    return _KINDS.get(tool, "other")


# How a call ended, in each of the ways that Cline and the extensions made from it have written it.
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
        ending = _result_of_items(items)
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


def _result_of_items(items: list[dict[str, Any]]) -> RecordedResult:
    """The result of a batch: failed if one item failed; the detail says which."""
    texts: list[str] = []
    outcomes: list[dict[str, Any]] = []
    exit_code: int | None = None
    for item in items:
        text, code = _read_item(item)
        query = string(item.get("query"))[:_LONGEST_QUERY]
        texts.append(text if len(items) == 1 else f"[{query}]\n{text}")
        outcomes.append({"query": query, "success": item.get("success") is True})
        if code is not None:
            outcomes[-1]["exit_code"] = code
            exit_code = code if exit_code is None else exit_code
    failed = any(not outcome["success"] for outcome in outcomes)
    detail: dict[str, Any] = {"items": outcomes[:_MOST_ITEMS]} if len(items) > 1 else {}
    return RecordedResult("\n".join(texts), failed, exit_code, detail)


def _read_item(item: dict[str, Any]) -> tuple[str, int | None]:
    text, error = text_of(item.get("result")), string(item.get("error"))
    stated = _EXIT_ERROR.match(error)
    if item.get("success") is True or stated is None:
        return text or error, None
    return _EXIT_HEADER.sub("", text, count=1), int(stated[1])


# How Cline words refusals and its tools' own errors.
DIALECT = Dialect(
    fields={"denied": "denied"},
    denied=(r"The user denied this operation",),
    failed=(r"The tool execution failed with the following error:",),
    mistake=(r"\[ERROR\] You did not use a tool", r"Missing value for required parameter"),
    empty=(r"Found 0 results",),
)
