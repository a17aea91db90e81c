"""The items that are calls: what was asked for, and how it ended. Knows nothing of the order of events."""

from typing import Any, NamedTuple

from preheat.agents.chat import RequestedCall, mapping, string, text_of
from preheat.agents.parsing import arguments_of
from preheat.model.session import ToolKind

CALL_KINDS: dict[object, ToolKind] = {
    "command_execution": "shell",
    "file_change": "edit",
    "mcp_tool_call": "other",
    "collab_tool_call": "delegate",
    "web_search": "web",
    "todo_list": "plan",
}
"""The types of items that are calls, with their kinds."""
_LARGEST_CODE = 2**31


class RecordedResult(NamedTuple):
    """The result of a call, as recorded by the program."""

    text: str = ""
    is_error: bool | None = None
    exit_code: int | None = None


def call_of(item: dict[str, Any]) -> RequestedCall:
    """The call of an item: tool and arguments."""
    kind = str(item["type"])
    if kind == "command_execution":
        return RequestedCall("", kind, {"command": string(item.get("command"))})
    if kind == "mcp_tool_call":
        tool = f"mcp__{string(item.get('server'))}__{string(item.get('tool'))}"
        return RequestedCall("", tool, arguments_of(item.get("arguments")))
    if kind == "collab_tool_call":
        tool_input = {name: item[name] for name in ("prompt", "receiver_thread_ids") if item.get(name)}
        return RequestedCall("", string(item.get("tool")) or kind, tool_input)
    names = {"file_change": ("changes",), "web_search": ("query", "action"), "todo_list": ("items",)}[kind]
    return RequestedCall("", kind, {name: item[name] for name in names if item.get(name)})


def result_of(item: dict[str, Any]) -> RecordedResult:
    """The result of a completed item."""
    flag = {"completed": False, "failed": True, "declined": True}.get(string(item.get("status")))
    kind = item["type"]
    if kind == "command_execution":
        code = item.get("exit_code")
        code = code if isinstance(code, int) and not isinstance(code, bool) and abs(code) < _LARGEST_CODE else None
        # With an exit code, the status only says whether the code is 0.
        refused = item.get("status") == "declined"
        return RecordedResult(string(item.get("aggregated_output")), flag if code is None or refused else None, code)
    if kind == "mcp_tool_call":
        result, error = mapping(item.get("result")), mapping(item.get("error"))
        says_so = result.get("is_error") is True or result.get("isError") is True
        return RecordedResult(text_of(result.get("content")) or string(error.get("message")), says_so or flag)
    return RecordedResult("", flag)
