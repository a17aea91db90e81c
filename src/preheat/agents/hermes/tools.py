"""Hermes's tools: what each is for, what a stored result says of exit code, error and status, and how refusals are worded.

The stored text is JSON in wrappings. Only the program's own structure is read here; what the output of a command means is another
stage's business.
"""

import json
import re
from typing import Any, NamedTuple

from preheat.agents.python_scripts import read_python_script
from preheat.agents.scripts import join_commands
from preheat.model.outcome import Dialect
from preheat.model.session import PREHEAT_MARK, ToolKind

_KINDS: dict[str, ToolKind] = {
    "terminal": "shell",
    "process": "shell",
    "execute_code": "shell",
    "read_terminal": "shell",
    "close_terminal": "shell",
    "read_file": "read",
    "skill_view": "read",
    "vision_analyze": "read",
    "video_analyze": "read",
    "patch": "edit",
    "write_file": "write",
    "skill_manage": "write",
    "search_files": "search",
    "session_search": "search",
    "skills_list": "search",
    "web_search": "web",
    "web_extract": "web",
    "x_search": "web",
    "todo": "plan",
    "clarify": "plan",
    "delegate_task": "delegate",
}


def kind_of(tool: str) -> ToolKind:
    """What a tool is for; tools of MCP servers (`mcp_*`) and of platforms are `other`."""
    if tool.startswith("browser_"):
        return "web"
    if tool.startswith("kanban_"):
        return "plan"
    return _KINDS.get(tool, "other")


# Scripts that call tools.
SCRIPT_TOOL = "execute_code"
_PARAMETERS = {
    "web_search": ("query", "limit"),
    "web_extract": ("urls", "char_limit"),
    "read_file": ("path", "offset", "limit"),
    "write_file": ("path", "content", "cross_profile"),
    "search_files": ("pattern", "target", "path", "file_glob", "limit", "offset", "output_mode", "context", "order"),
    "patch": ("path", "old_string", "new_string", "replace_all", "mode", "patch", "cross_profile"),
    "terminal": ("command", "timeout", "workdir"),
}
"""The functions of `hermes_tools` that a script can call, with their parameters in order."""


def call_in_script(arguments: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The tool and the arguments of the call that a script makes; of several commands together. The script itself where that
    cannot be told."""
    calls = read_python_script(str(arguments.get("code") or ""), _PARAMETERS).calls
    if len(calls) == 1 and calls[0].argument:
        return calls[0].tool, calls[0].argument
    if calls and all(call.tool == "terminal" for call in calls):
        joined = join_commands([call.argument for call in calls], "command")
        return ("terminal", joined) if joined else (SCRIPT_TOOL, arguments)
    return SCRIPT_TOOL, arguments


# Exit code, error and status in a stored result.
_JSON = json.JSONDecoder()
_STEER = re.compile(r"\s*\[OUT-OF-BAND USER MESSAGE[^\]\n]*\]\n?(.*?)\n?\[/OUT-OF-BAND USER MESSAGE\]", re.DOTALL)
_UNTRUSTED_START, _UNTRUSTED_END = "<untrusted_tool_result", "</untrusted_tool_result>"
_PERSISTED = "<persisted-output>"
_PREVIEW = re.compile(r"^Preview \(first [\d,]+ chars\):\n", re.MULTILINE)
_LOOP_WARNING = re.compile(r"\n\n\[Tool loop (?:warning|hard stop):")

_PRUNED = ("[Old tool output cleared", "[Duplicate tool output", "[Result from earlier conversation")
_PRUNED_EXIT = re.compile(r"\[terminal\] ran `.*` -> exit (-?\d{1,9}), ", re.DOTALL)

ADVISORY = "preheat_advisory"
"""The key under which our plugin puts an advisory into a result's own object."""
_ADVISORY_ENTRY = re.compile(rf', "{ADVISORY}": ("(?:[^"\\]|\\.)*")|"{ADVISORY}": ("(?:[^"\\]|\\.)*")(?:, )?')
_CHECK_KINDS = frozenset(("test", "lint", "build", "typecheck"))

_FAILED = frozenset(
    ("error", "failed", "timeout", "interrupted", "cancelled", "blocked", "disabled", "pending_approval",
     "denied", "not_found")
)  # fmt: skip
_WORKED = frozenset(("ok", "success", "completed", "unchanged"))
_WORKED_BY_KEY = {
    "read_file": ("content", "dedup"),
    "write_file": ("bytes_written",),
    "search_files": ("total_count",),
    "todo": ("todos",),
    "clarify": ("user_response",),
}
"""Tools whose success shows by a key in the result."""
_REJECTIONS = {
    "Error: Invalid JSON arguments": "invalid_arguments",
    "Skipped: ": "skipped",
}
"""How the stored text of a call begins that never reached a tool."""


class RecordedResult(NamedTuple):
    """The program's own facts about a result, and what the person typed meanwhile."""

    is_error: bool | None
    exit_code: int | None
    detail: dict[str, Any]
    steered: tuple[str, ...] = ()


def result_of(text: str, tool: str) -> RecordedResult:
    """Read the program's own facts out of a stored result."""
    steered = tuple(found.strip() for found in _STEER.findall(text)) if "[OUT-OF-BAND" in text else ()
    if steered:
        text = _STEER.sub("", text)
    detail: dict[str, Any] = {}
    body = _unwrap(text, detail)
    try:
        value, end = _JSON.raw_decode(body)
    except (ValueError, RecursionError):
        is_error, exit_code = _read_plain(body, tool, detail)
        return RecordedResult(is_error, exit_code, detail, steered)
    if _LOOP_WARNING.search(body, end):
        detail["loop_warning"] = True
    if not isinstance(value, dict):
        return RecordedResult(None, None, detail, steered)
    exit_code = _fill_detail(value, detail)
    return RecordedResult(_is_error(value, tool, detail), exit_code, detail, steered)


def split_advisory(text: str) -> tuple[str, str]:
    """A result as the tool gave it, and the advisory that our plugin put into it."""
    if f'"{ADVISORY}": "{PREHEAT_MARK}' not in text:
        return text, ""
    found = _ADVISORY_ENTRY.search(text)
    if found is None:
        return text, ""
    try:
        return text[: found.start()] + text[found.end() :], str(json.loads(found[1] or found[2], strict=False))
    except ValueError:
        return text, ""


def printed_output(text: str, tool: str) -> str | None:
    """What a command printed, from its result; None if the result is not a plain object with an output."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    printed = value.get("output") if isinstance(value, dict) and kind_of(tool) == "shell" else None
    return printed if isinstance(printed, str) else None


def _unwrap(text: str, detail: dict[str, Any]) -> str:
    body = text.lstrip()
    if body.startswith(_UNTRUSTED_START):
        # A tag, a paragraph of explanation, the result.
        detail["untrusted"] = True
        body = body.rpartition(_UNTRUSTED_END)[0] or body
        body = body.partition("\n\n")[2].lstrip()
    if body.startswith(_PERSISTED):
        # Only the beginning is stored here: a JSON value that was cut is not read at all.
        detail["persisted"] = True
        preview = _PREVIEW.search(body)
        body = body[preview.end() :] if preview else ""
    return body


def _read_plain(body: str, tool: str, detail: dict[str, Any]) -> tuple[bool | None, int | None]:
    first = body.partition("\n")[0]
    if first.startswith(("[Tool execution cancelled", "[Tool execution skipped")):
        detail["status"] = "cancelled" if "cancelled" in first[:30] else "skipped"
        return True, None
    if body.startswith("Tool '") and "does not exist" in first:
        detail["rejected"] = "unknown_tool"
        return True, None
    for start, reason in _REJECTIONS.items():
        if body.startswith(start):
            detail["rejected"] = reason
            return True, None
    # A compaction shortens a result to one line, with the tool's name in front.
    if first.startswith(_PRUNED) or (tool and first.startswith(f"[{tool}] ")):
        detail["pruned"] = True
        found = _PRUNED_EXIT.match(body)
        return None, int(found[1]) if found else None
    return None, None


def _fill_detail(value: dict[str, Any], detail: dict[str, Any]) -> int | None:
    """Fill `detail` with the small facts, and return the exit code."""
    for name in ("status", "exit_code_meaning"):
        if isinstance(value.get(name), str):
            detail[name] = value[name][:200]
    evidence = value.get("verification_evidence")
    if isinstance(evidence, dict):
        detail["verification_evidence"] = {
            name: evidence[name] for name in ("status", "kind", "scope") if isinstance(evidence.get(name), str)
        }
        if (kind := detail["verification_evidence"].get("kind")) in _CHECK_KINDS:
            detail["checks"] = [kind]
    lint = value.get("lint")
    if isinstance(lint, dict) and isinstance(lint.get("status"), str):
        detail["lint"] = lint["status"]
    for name in ("guardrail", "dedup"):
        if value.get(name):
            detail[name] = True
    code = value.get("exit_code")
    if not isinstance(code, int) or isinstance(code, bool):
        return None
    if isinstance(value.get("pid"), int) and value.get("session_id"):
        # A background process: this 0 only means that it was started.
        detail["background"] = True
        return None
    return code


def _is_error(value: dict[str, Any], tool: str, detail: dict[str, Any]) -> bool | None:
    error, status, success = value.get("error"), value.get("status"), value.get("success")
    if (isinstance(error, str) and error) or success is False:
        return True
    if isinstance(status, str) and status in _FAILED:
        return True
    if isinstance(value.get("results"), list):
        return _is_error_of_all(value["results"], detail)
    if success is True or (isinstance(status, str) and status in _WORKED):
        return False
    if any(name in value for name in _WORKED_BY_KEY.get(tool, ())):
        return False
    if tool.startswith("mcp_") and "result" in value:
        return False
    return None


def _is_error_of_all(items: list[Any], detail: dict[str, Any]) -> bool | None:
    """Whether all of several results failed or worked (delegated tasks, extracted pages); None for a mixture."""
    failed = worked = 0
    for item in items:
        if not isinstance(item, dict):
            continue
        error, status = item.get("error"), item.get("status")
        status = status if isinstance(status, str) else ""
        if (isinstance(error, str) and error) or status in _FAILED:
            failed += 1
        elif status in _WORKED or "error" in item:
            worked += 1
    if failed:
        detail["items_failed"] = failed
    if worked:
        detail["items_worked"] = worked
    if failed and not worked:
        return True
    return False if worked and not failed else None


# The phrases and `status` values by which Hermes reports refusals, interruptions and errors.
DIALECT = Dialect(
    fields={
        "status": {
            "denied": "denied", "blocked": "denied", "pending_approval": "denied", "disabled": "denied",
            "cancelled": "interrupted", "interrupted": "interrupted", "skipped": "interrupted", "timeout": "timeout",
            "running": "running",
        },
    },
    denied=(r"BLOCKED: ", r"Command denied"),
    interrupted=(r"\[Tool execution (?:cancelled|skipped)", r"Skipped: "),
    mistake=(r"Tool '[^'\n]{1,200}' does not exist", r"Error: Invalid JSON arguments"),
)  # fmt: skip
