"""Codex's tools: what each is for, how a call ended by the program's own records or the header of its output, and how errors
are worded.

Knows nothing of sessions. A line like `Process exited with code 2` counts only in the header: further down the command
printed it.
"""

import re
from typing import Any

import msgspec

from preheat.agents.chat import mapping, string
from preheat.agents.codex.records import Item, Payload, whole_number
from preheat.agents.parsing import decode_json
from preheat.model.outcome import Dialect
from preheat.model.session import ToolKind

_KINDS: dict[str, ToolKind] = {
    "exec_command": "shell",
    "write_stdin": "shell",
    "shell": "shell",
    "shell_command": "shell",
    "local_shell": "shell",
    "container.exec": "shell",
    "unified_exec": "shell",
    "apply_patch": "edit",
    "view_image": "read",
    "read_file": "read",
    "list_dir": "search",
    "grep_files": "search",
    "tool_search": "search",
    "web_search": "web",
    "web__run": "web",
    "update_plan": "plan",
    "get_goal": "plan",
    "create_goal": "plan",
    "update_goal": "plan",
    "spawn_agent": "delegate",
    "send_input": "delegate",
    "send_message": "delegate",
    "followup_task": "delegate",
    "resume_agent": "delegate",
    "wait": "delegate",
    "wait_agent": "delegate",
    "close_agent": "delegate",
    "interrupt_agent": "delegate",
    "list_agents": "delegate",
}

SPAWN_TOOL = "spawn_agent"


def kind_of(tool: str) -> ToolKind:
    """What the tool is for."""
    return _KINDS.get(tool, "other")


def full_name(name: str, namespace: str) -> str:
    """The tool's name, with the server's in front for a tool of an MCP server."""
    if namespace.startswith("mcp") and not name.startswith(namespace):
        return f"{namespace.rstrip('_')}__{name}"
    return name


# How a call ended
_HEADER = re.compile(
    r"(?:Process exited with code (?P<exit>-?\d{1,10})"
    r"|Exit code: (?P<code>-?\d{1,10})"
    r"|Wall time: (?P<seconds>[\d.]{1,20}) seconds"
    r"|Process running with session ID (?P<running>\S{1,40})"
    r"|Chunk ID: \S*|Original token count: \d+|Total output lines: \d+)(?:\n|\Z)"
)
_AFTER_COMMAND = re.compile(r"^(?=Chunk ID: |Wall time: )", re.MULTILINE)
_OUTPUT_MARK = "Output:"


class RecordedResult(msgspec.Struct, omit_defaults=True):
    """The program's own record of a finished call."""

    exit_code: int | None = None
    is_error: bool | None = None
    seconds: float | None = None
    status: str = ""


class CallOutput(msgspec.Struct):
    """An output as the model got it, split into header and text."""

    text: str
    exit_code: int | None = None
    is_error: bool | None = None
    seconds: float | None = None
    running: str = ""
    images: int = 0
    header: str = ""
    """The program's own lines before the text."""


def result_of_item(item: Item) -> RecordedResult:
    """From an item of a paginated rollout."""
    status = string(item.status)
    exit_code = whole_number(item.exit_code)
    is_error: bool | None = None
    if item.success is not None or item.type != "CommandExecution":
        is_error = _is_failure(item.success, status)
    elif exit_code is None or status == "declined":
        # With an exit code, `failed` only repeats that the code is not 0.
        is_error = _is_failure(None, status)
    if item.type == "McpToolCall" and is_error is not True and _says_error(item.result):
        is_error = True
    return RecordedResult(exit_code, is_error, _duration(item.duration), status)


def result_of_event(payload: Payload) -> RecordedResult:
    """From `exec_command_end`, `patch_apply_end` or `mcp_tool_call_end` of a legacy rollout."""
    status = string(payload.status)
    if payload.type == "exec_command_end":
        exit_code = whole_number(payload.exit_code)
        is_error = _is_failure(None, status) if exit_code is None or status == "declined" else None
        return RecordedResult(exit_code, is_error, _duration(payload.duration), status)
    if payload.type == "mcp_tool_call_end":
        result = mapping(payload.result)
        is_error = True if "Err" in result else _says_error(result.get("Ok")) if "Ok" in result else None
        return RecordedResult(None, is_error, _duration(payload.duration), status)
    return RecordedResult(None, _is_failure(payload.success, status), _duration(payload.duration), status)


def parse_output(output: object) -> CallOutput:
    """Split an output into header and text; it is a string, an object or a list of parts."""
    if isinstance(output, dict):  # {"content": …, "success": …}
        answer = parse_output(output.get("content"))
        if isinstance(output.get("success"), bool):
            answer.is_error = not output["success"]
        return answer
    if isinstance(output, list):
        parts = [part for part in output if isinstance(part, dict)]
        answer = parse_output("\n".join(string(part.get("text")) for part in parts if part.get("text")))
        answer.images = sum("image" in string(part.get("type")) for part in parts)
        return answer
    if not isinstance(output, str):
        return CallOutput("")
    return _output_of_json(output) or _output_of_header(output)


def _output_of_json(output: str) -> CallOutput | None:
    # Old rollouts: {"output": "…", "metadata": {"exit_code": 0, "duration_seconds": 0.1}}
    if not output.startswith("{") or '"metadata"' not in output:
        return None
    try:
        value = mapping(decode_json(output.encode("utf-8", "replace")))
    except (ValueError, RecursionError):
        return None
    metadata = mapping(value.get("metadata"))
    if not isinstance(value.get("output"), str) or "exit_code" not in metadata:
        return None
    return CallOutput(
        value["output"], whole_number(metadata["exit_code"]), seconds=_number(metadata.get("duration_seconds"))
    )


def _output_of_header(output: str) -> CallOutput:
    start = 0
    if output.startswith("Command: "):
        after = _AFTER_COMMAND.search(output)
        if after is None:
            return CallOutput(output)
        start = after.start()
    answer = CallOutput(output)
    place = start
    while (line := _HEADER.match(output, place)) is not None:
        place = line.end()
        code = line["exit"] or line["code"]
        if code:
            answer.exit_code = int(code)
        if line["seconds"]:
            answer.seconds = _number(line["seconds"])
        if line["running"]:
            answer.running = line["running"]
    if place > start:
        if output.startswith(_OUTPUT_MARK, place):
            place += len(_OUTPUT_MARK)
            place += output.startswith("\n", place)
        answer.header, answer.text = output[:place], output[place:]
    return answer


def _is_failure(success: object, status: str) -> bool | None:
    if isinstance(success, bool):
        return not success
    return {"completed": False, "failed": True, "declined": True}.get(status)


def _says_error(result: object) -> bool:
    fields = mapping(result)
    return fields.get("is_error") is True or fields.get("isError") is True


def _duration(value: object) -> float | None:
    if isinstance(value, dict):
        whole_seconds, nanos = whole_number(value.get("secs")), whole_number(value.get("nanos"))
        return None if whole_seconds is None else whole_seconds + (nanos or 0) / 1e9
    return _number(value)


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if 0 <= number < 1e9 else None


# The phrases by which Codex reports refusals, interruptions, timeouts and errors.
DIALECT = Dialect(
    fields={"status": {"declined": "denied"}, "running": "running"},
    denied=(r"(?:exec command |patch )?rejected by user", r"(?:command|patch|execution) (?:was )?(?:denied|rejected)"),
    interrupted=(r"aborted by user(?: after|\b)", r"(?:command|execution) (?:was )?aborted"),
    timeout=(r"command timed out after ",),
    mistake=(
        r"apply_patch verification failed", r"failed to parse function arguments", r"unsupported call: ",
        r"unknown process id ", r"(?:write_stdin|exec_command) failed", r"Invalid (?:patch|hunk)",
    ),
    worked=(r"Success\. Updated the following files", r"Plan updated", r"Exit code: 0\nWall time"),
)  # fmt: skip
