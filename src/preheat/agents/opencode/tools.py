"""OpenCode's tools: what each is for, how a call ended by the state of its part, and how refusals and errors are worded.

`status` says whether the tool worked, not whether the command did: that is `metadata.exit`. Knows nothing of messages.
"""

import re
from typing import Any, NamedTuple

from preheat.agents.chat import mapping, sequence, string
from preheat.model.outcome import Dialect
from preheat.model.session import PREHEAT_MARK, ToolKind

_KINDS: dict[str, ToolKind] = {
    "bash": "shell",
    "shell": "shell",
    "read": "read",
    "skill": "read",
    "lsp": "read",
    "edit": "edit",
    "multiedit": "edit",
    "patch": "edit",
    "apply_patch": "edit",
    "write": "write",
    "glob": "search",
    "grep": "search",
    "list": "search",
    "codesearch": "search",
    "webfetch": "web",
    "websearch": "web",
    "todowrite": "plan",
    "todoread": "plan",
    "plan_enter": "plan",
    "plan_exit": "plan",
    "question": "plan",
    "task": "delegate",
}


def kind_of(tool: str) -> ToolKind:
    """What a tool is for; tools of MCP servers and plugins are `other`."""
    return _KINDS.get(tool, "other")


# How a call ended, by the state of its part.
INVALID = "invalid"
"""The tool under which OpenCode records a call to an unknown tool or with invalid arguments."""
_NOTES = re.compile(r"\s*<(shell|bash)_metadata>\s*(.*?)\s*</\1_metadata>", re.DOTALL)
_ABORTED = "Tool execution aborted"
_REJECTED = {
    "The user rejected permission": "permission",
    "The user has specified a rule": "rule",
    "The user dismissed": "question",
}
"""How the error of a call begins that a person or a rule refused."""
_ERROR_SEVERITY = 1


class RecordedResult(NamedTuple):
    """The result of a call, and the text that a plugin added to it."""

    text: str
    is_error: bool | None
    exit_code: int | None
    detail: dict[str, Any]
    added: str = ""


def result_of(tool: str, state: dict[str, Any]) -> RecordedResult:
    """Read the state of a call that has ended."""
    metadata = mapping(state.get("metadata"))
    detail = _detail(state, metadata)
    if state.get("status") == "error":
        error = string(state.get("error"))
        if metadata.get("interrupted") is True or error.startswith(_ABORTED):
            detail["interrupted"] = True
        for start, reason in _REJECTED.items():
            if error.startswith(start):
                detail["rejected"] = reason
        return RecordedResult(error, True, None, detail)
    text, added = _split_added(string(state.get("output")), metadata.get("output"))
    code = metadata.get("exit")
    exit_code = code if isinstance(code, int) and not isinstance(code, bool) else None
    is_error: bool | None = False
    if tool == INVALID:
        detail["rejected"], is_error = INVALID, True
    notes = _last_notes(text)
    if "exceeding timeout" in notes:
        detail["timed_out"], is_error = True, None
    if "aborted the command" in notes:
        detail["interrupted"], is_error = True, None
    return RecordedResult(text, is_error, exit_code, detail, added)


def _detail(state: dict[str, Any], metadata: dict[str, Any]) -> dict[str, Any]:
    detail: dict[str, Any] = {}
    if metadata.get("truncated") is True:
        detail["truncated"] = True
    if mapping(state.get("time")).get("compacted"):
        detail["pruned"] = True  # still stored, but no longer sent to the model
    found = [mapping(each) for each in mapping(metadata.get("diagnostics")).values() for each in sequence(each)]
    errors = sum(each.get("severity") == _ERROR_SEVERITY for each in found)
    if errors:
        detail["diagnostics"] = errors
    return detail


def _split_added(output: str, command_output: object) -> tuple[str, str]:
    """The tool's output, and the text that plugins added: `metadata.output` keeps a command's output unchanged."""
    if isinstance(command_output, str) and command_output and output.startswith(command_output):
        notes = _NOTES.match(output, len(command_output))
        end = notes.end() if notes else len(command_output)
        return output[:end], output[end:].strip()
    mark = output.find(PREHEAT_MARK)
    return (output, "") if mark < 0 else (output[:mark], output[mark:].strip())


def _last_notes(text: str) -> str:
    """The program's notes at the end of a command's output, on how the command ended."""
    start = max(text.rfind("<shell_metadata>"), text.rfind("<bash_metadata>"))
    notes = _NOTES.match(text, start) if start >= 0 else None
    return notes[2] if notes and not text[notes.end() :].strip() else ""


# The phrases and fields by which OpenCode reports refusals, cancellations and errors of its tools.
DIALECT = Dialect(
    fields={
        "interrupted": "interrupted",
        "timed_out": "timeout",
        "rejected": {"permission": "denied", "rule": "denied", "question": "denied"},
    },
    denied=(r"The user (?:rejected permission|has specified a rule)", r"The user dismissed"),
    interrupted=(r"Tool execution aborted",),
    mistake=(
        r"(?:Error: )?Could not find oldString", r"(?:Error: )?oldString (?:not found|and newString)",
        r"apply_patch verification failed", r"The (?:arguments provided to the tool|\S+ tool was called with invalid)",
        r"(?:Error: )?File not found: ", r"(?:Error: )?You must read (?:the )?file",
        r"Model tried to call unavailable tool",
    ),
    worked=(r"Edit applied successfully", r"Wrote file successfully", r"Success\. Updated the following files"),
    empty=(r"No files found\s*\Z",),
)  # fmt: skip
