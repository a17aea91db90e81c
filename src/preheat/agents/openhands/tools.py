"""OpenHands's tools, of the SDK and of older versions."""

from typing import Any

from preheat.agents.tool_names import kind_by_name as kind_by_name
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
_OF_THE_EDITOR: dict[str, ToolKind] = {"view": "read", "create": "write"}


def kind_of(tool: str, tool_input: dict[str, Any]) -> ToolKind:
    """What a tool is for; the editor reads, writes and edits by its command."""
    if tool in _EDITORS:
        return _OF_THE_EDITOR.get(str(tool_input.get("command")), "edit")
    return _KINDS.get(tool) or kind_by_name(tool)
