"""Copilot CLI's tools: what each is for, how a call ended by `tool.execution_complete`, and how refusals and endings are worded.

`success` only means that the tool ran: a command that ended with 2 is a success of the shell tool, so the flag and the exit code
are kept apart. Knows nothing of sessions.
"""

import re
from typing import Any, NamedTuple

from preheat.agents.chat import mapping, sequence, string
from preheat.agents.copilot.records import Data
from preheat.model.outcome import Dialect
from preheat.model.session import ToolKind

_KINDS: dict[str, ToolKind] = {
    "view": "read",
    "show_file": "read",
    "edit": "edit",
    "str_replace": "edit",
    "apply_patch": "edit",
    "create": "write",
    "grep": "search",
    "rg": "search",
    "glob": "search",
    "search_code_subagent": "search",
    "web_fetch": "web",
    "web_search": "web",
    "update_todo": "plan",
    "exit_plan_mode": "plan",
    "report_intent": "plan",
    "task": "delegate",
    "read_agent": "delegate",
    "list_agents": "delegate",
    "write_agent": "delegate",
}
_SHELLS = ("bash", "powershell")
_EDITOR = "str_replace_editor"
_EDITOR_KINDS: dict[str, ToolKind] = {"view": "read", "create": "write"}


def kind_of(tool: str, call_input: dict[str, Any]) -> ToolKind:
    """What the tool is for; for the older editor that depends on its command."""
    if tool.endswith(_SHELLS):  # also read_bash, write_bash, stop_bash, list_bash
        return "shell"
    if tool == _EDITOR:
        return _EDITOR_KINDS.get(str(call_input.get("command")), "edit")
    return _KINDS.get(tool, "other")


# How a call ended, by `tool.execution_complete`.
_EXIT_LINE = re.compile(
    r"\n?<(?:shellId: \S{1,80} completed|command completed|exited) with exit code (-?\d{1,10})>\s*\Z"
)
"""The program's own last line. Only at the very end: further up the command printed it."""
_RUNNING = re.compile(
    r"<(?:command (?:started in background )?with )?shellId: (\S{1,80}?)(?: is still running\b[^>]{0,300})?>\s*\Z"
)
_GUIDANCE = re.compile(r'\n\nTool "[^"\n]{1,200}" (?:succeeded|failed)\. Additional guidance from \w{1,40} hooks:\n')


class RecordedResult(NamedTuple):
    """The program's own record of a finished call."""

    text: str
    is_error: bool | None
    exit_code: int | None
    detail: dict[str, Any]
    trailer: str = ""
    """The program's own line after the text."""


def result_of(data: Data, has_hook_text: bool) -> RecordedResult:
    """Read a completion. A text that a hook has added since the last one is cut off the end of the result."""
    result, error = mapping(data.result), mapping(data.error)
    text = string(result.get("content")) or string(data.result)
    if has_hook_text:
        text = _without_guidance(text)
    exit_code = _stated_exit_code(data, result)
    last_line = _EXIT_LINE.search(text, max(0, len(text) - 200))
    trailer = ""
    if last_line is not None:
        trailer = text[last_line.start() :]
        exit_code = int(last_line[1]) if exit_code is None else exit_code
        text = text[: last_line.start()]
    detail: dict[str, Any] = {}
    if error or isinstance(data.error, str):
        text = text or string(error.get("message")) or string(data.error)
        if string(error.get("code")):
            detail["code"] = string(error.get("code"))[:100]
    if exit_code is None and (running := _RUNNING.search(text, max(0, len(text) - 400))) is not None:
        detail["running"] = running[1]
    properties = mapping(mapping(data.toolTelemetry).get("properties"))
    if string(properties.get("shell_error_category")):
        detail["category"] = string(properties.get("shell_error_category"))[:100]
    is_error = not data.success if isinstance(data.success, bool) else None
    return RecordedResult(text, is_error, exit_code, detail, trailer)


def _stated_exit_code(data: Data, result: dict[str, Any]) -> int | None:
    """From the field, else from the content block of older versions, else from the telemetry (failures only)."""
    code = _whole_number(mapping(data.shellExecution).get("exitCode"))
    for block in sequence(result.get("contents")):
        if code is None and mapping(block).get("type") in ("shell_exit", "terminal"):
            code = _whole_number(mapping(block).get("exitCode"))
    if code is None:
        code = _whole_number(mapping(mapping(data.toolTelemetry).get("metrics")).get("exit_code"))
    return code


def _whole_number(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if value != value or abs(value) > 2**32 or int(value) != value:
        return None
    return int(value)


def _without_guidance(text: str) -> str:
    starts = [found.start() for found in _GUIDANCE.finditer(text)]
    # Only the last one is the program's: a command may print such a line itself.
    return text[: starts[-1]] if starts else text


# The phrases and fields by which Copilot CLI reports refusals and running commands.
DIALECT = Dialect(
    fields={
        "permission": "denied",
        "code": {"denied": "denied", "rejected": "denied"},
        "running": "running",
        "category": {"command_timeout": "running"},
    },
    denied=(
        r"(?:The tool call required approval|Permission denied and could not request permission|The user rejected)",
    ),
    worked=(r"File [^\n]{1,1000} (?:updated|created)",),
)
