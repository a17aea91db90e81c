"""Cursor's tools: what each is for, the arguments and the ending of a call by `toolFormerData`, and how endings are worded.

The editor and the command line use different names. No single member tells how a call ended: a refused or failing command is
`completed` as well. Knows nothing of messages.
"""

import json
from typing import Any, NamedTuple

from preheat.agents.chat import mapping, string
from preheat.agents.parsing import arguments_of, decode_json
from preheat.model.outcome import Dialect
from preheat.model.session import ToolKind

_KINDS: dict[str, ToolKind] = {
    "shell": "shell",
    "run_terminal_cmd": "shell",
    "run_terminal_command": "shell",
    "read": "read",
    "read_file": "read",
    "read_lints": "read",
    "readlints": "read",
    "strreplace": "edit",
    "edit": "edit",
    "edit_file": "edit",
    "search_replace": "edit",
    "applypatch": "edit",
    "apply_patch": "edit",
    "reapply": "edit",
    "editnotebook": "edit",
    "edit_notebook": "edit",
    "write": "write",
    "delete": "write",
    "delete_file": "write",
    "grep": "search",
    "grep_search": "search",
    "ripgrep_raw_search": "search",
    "ripgrep_search": "search",
    "glob": "search",
    "glob_file_search": "search",
    "file_search": "search",
    "ls": "search",
    "list_dir": "search",
    "semanticsearch": "search",
    "semantic_search_full": "search",
    "codebase_search": "search",
    "websearch": "web",
    "web_search": "web",
    "webfetch": "web",
    "web_fetch": "web",
    "todowrite": "plan",
    "todo_write": "plan",
    "create_plan": "plan",
    "createplan": "plan",
    "askquestion": "plan",
    "ask_question": "plan",
    "switchmode": "plan",
    "switch_mode": "plan",
    "task": "delegate",
    "subagent": "delegate",
}
SPAWN_TOOLS = ("task", "task_v2")


def kind_of(tool: str) -> ToolKind:
    """What a tool is for; tools of MCP servers are `other`."""
    return _KINDS.get(tool.lower().removesuffix("_v2"), "other")


# The arguments and the ending of a call, by the `toolFormerData` of the editor.
_ENDED = ("completed", "error", "cancelled")
_LARGEST_CODE = 2**31
_SHORT = 500


class RecordedResult(NamedTuple):
    """How a call ended, by the editor's record of it."""

    text: str
    is_error: bool | None
    exit_code: int | None
    detail: dict[str, Any]
    spawned_session: str
    """The session that the call started, if any."""


def arguments_of_call(recorded: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a call as the model wrote them, else as the editor parsed them."""
    for name in ("rawArgs", "params"):
        value = recorded.get(name)
        if value not in (None, "", "{}", {}):
            return arguments_of(value)
    return {}


def result_of(recorded: dict[str, Any]) -> RecordedResult | None:
    """How a call ended; None if it has not ended."""
    status = string(recorded.get("status"))
    raw = recorded.get("result")
    if status not in _ENDED and raw in (None, ""):
        return None
    result = _object(raw)
    error = _error_text(recorded.get("error"))
    result_text = raw if isinstance(raw, str) else json.dumps(raw) if raw is not None else ""
    output = next((result[name] for name in ("output", "contents") if isinstance(result.get(name), str)), result_text)
    text = output or error
    detail: dict[str, Any] = {"status": status} if status else {}
    decision = string(recorded.get("userDecision"))
    if decision:
        detail["user_decision"] = decision
    is_refused = result.get("rejected") is True or decision == "rejected"
    if is_refused:
        detail["rejected"] = True
    if error:
        detail["error"] = error[:_SHORT]
    displayed_status = string(mapping(recorded.get("additionalData")).get("status"))
    if displayed_status and displayed_status not in (status, "success"):
        detail["shown_as"] = displayed_status
    # A cancelled call neither worked nor failed.
    failed = {"completed": False, "error": True}.get(status)
    return RecordedResult(
        text, True if is_refused else failed, _exit_code(result), detail, string(result.get("agentId"))
    )


def _exit_code(result: dict[str, Any]) -> int | None:
    """The exit code; the older member is absent for 0."""
    for name in ("exitCodeV2", "exitCode"):
        code = result.get(name)
        if isinstance(code, int) and not isinstance(code, bool) and abs(code) < _LARGEST_CODE:
            return code
    return None


def _object(value: object) -> dict[str, Any]:
    if isinstance(value, str) and value.lstrip()[:1] == "{":
        try:
            value = decode_json(value.encode("utf-8", "replace"))
        except (ValueError, RecursionError):
            return {}
    return mapping(value)


def _error_text(value: object) -> str:
    error_fields = _object(value)
    for name in ("modelVisibleErrorMessage", "clientVisibleErrorMessage", "message"):
        if message := string(error_fields.get(name)):
            return message
    return string(value)


# How Cursor words what becomes of a call.
DIALECT = Dialect(fields={"rejected": "denied", "status": {"cancelled": "interrupted"}})
