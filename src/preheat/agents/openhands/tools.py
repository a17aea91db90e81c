"""OpenHands's tools, of the SDK and of older versions: what each is for, how a call ended, and how refusals are worded.

Exit codes, flags, errors of the program and refusals are kept apart. Knows no file.
"""

from typing import Any, NamedTuple

from preheat.agents.chat import mapping, string, text_of
from preheat.agents.tool_names import kind_by_name
from preheat.model.outcome import Dialect
from preheat.model.session import ToolKind

_KINDS: dict[str, ToolKind] = {
    "terminal": "shell",
    "execute_bash": "shell",
    "execute_ipython_cell": "shell",
    "run": "shell",
    "run_ipython": "shell",
    "execute": "shell",
    "apply_patch": "edit",
    "edit_file": "edit",
    "browser": "web",
    "browse": "web",
    "browse_interactive": "web",
    "task_tracker": "plan",
    "think": "plan",
    "task": "delegate",
    "delegate": "delegate",
    "delegate_to_browsing_agent": "delegate",
    "glob": "search",
    "grep": "search",
    "list_directory": "search",
    "read_file": "read",
    "write_file": "write",
    "finish": "other",
}
_EDITORS = ("file_editor", "str_replace_editor", "planning_file_editor")
_EDITOR_KINDS: dict[str, ToolKind] = {"view": "read", "create": "write"}


def kind_of(tool: str, tool_input: dict[str, Any]) -> ToolKind:
    """What a tool is for; the editor reads, writes and edits by its command."""
    if tool in _EDITORS:
        return _EDITOR_KINDS.get(str(tool_input.get("command")), "edit")
    return _KINDS.get(tool) or kind_by_name(tool)


# How a call ended, as OpenHands recorded it
RUNNING_CODE = -1
"""Recorded instead of an exit code while a command is running; a later call may report its end."""


class RecordedResult(NamedTuple):
    """The result of a call, as recorded by the program."""

    text: str
    is_error: bool | None
    exit_code: int | None
    detail: dict[str, Any]


def result_of_observation(event: dict[str, Any]) -> RecordedResult:
    """The result of a tool that ran. A command that exits non-zero is no error of the tool: flag and exit code are kept apart."""
    observation = mapping(event.get("observation"))
    text = text_of(observation.get("content")) or text_of(observation.get("output"))
    failed = observation.get("is_error")
    code, detail = split_exit_code(observation.get("exit_code"))
    if observation.get("timeout") is True:
        detail["timeout"] = True
    if isinstance(observation.get("error"), str) and observation["error"]:
        # Older releases recorded the text of an error instead of the flag.
        failed, text = True, text or observation["error"]
    return RecordedResult(text, failed if isinstance(failed, bool) else None, code, detail)


def result_of_error(event: dict[str, Any]) -> RecordedResult:
    """The result of a call that the program could not run: bad arguments, unknown tool, a crash."""
    return RecordedResult(text_of(event.get("error")), True, None, {"agent_error": True})


def result_of_rejection(event: dict[str, Any]) -> RecordedResult:
    """The result of a call that a person or a hook refused."""
    by = string(event.get("rejection_source")) or "user"
    return RecordedResult(text_of(event.get("rejection_reason")), True, None, {"rejected": by})


def split_exit_code(code: object) -> tuple[int | None, dict[str, Any]]:
    """The exit code, and a detail if the command is still running."""
    if not isinstance(code, int) or isinstance(code, bool) or abs(code) >= 2**31:
        return None, {}
    return (None, {"running": True}) if code == RUNNING_CODE else (code, {})


# How OpenHands words refusals and failures.
DIALECT = Dialect(
    fields={"rejected": "denied", "timeout": "timeout"},
    denied=(r"(?:Action|The action) (?:has been |was )?rejected",),
    mistake=(r"ERROR:\n(?:Invalid|No replacement|Parameter)", r"No replacement was performed", r"Invalid `?path`? parameter"),
    worked=(r"The file [^\n]{1,1000} has been edited", r"File created successfully at"),
)  # fmt: skip
