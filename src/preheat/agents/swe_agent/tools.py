"""SWE-agent's tools: commands of its own shell, whether a model writes them out or calls them as functions."""

from typing import Any

from preheat.agents.chat import RequestedCall
from preheat.model.session import ToolKind

SHELL = "bash"
_KINDS: dict[str, ToolKind] = {
    "open": "read",
    "goto": "read",
    "scroll_up": "read",
    "scroll_down": "read",
    "view_image": "read",
    "filemap": "read",
    "edit": "edit",
    "insert": "edit",
    "undo_edit": "edit",
    "str_replace_editor": "edit",
    "create": "write",
    "find_file": "search",
    "search_dir": "search",
    "search_file": "search",
    "submit": "other",
    "exit_forfeit": "other",
    "review_on_submit": "other",
}
_OF_THE_EDITOR: dict[str, ToolKind] = {"view": "read", "create": "write"}


def call_of_action(requested: RequestedCall, action: str) -> tuple[str, ToolKind, dict[str, Any]]:
    """Tool, kind and arguments of a step's call: as the model called it, else from the command that was run."""
    words = action.split(maxsplit=2)
    first = words[0]
    tool = requested.tool or (first if first in _KINDS else SHELL)
    tool_input = requested.input if requested.tool else {"command": action}
    if tool == "str_replace_editor":
        subcommand = str(tool_input.get("command")) if requested.tool else words[1] if len(words) > 1 else ""
        return tool, _OF_THE_EDITOR.get(subcommand, "edit"), tool_input
    if tool.startswith(("debug_", "start_", "connect_", "disass", "decompile")):
        return tool, "other", tool_input
    return tool, _KINDS.get(tool, "shell" if tool in (SHELL, "execute_bash") else "other"), tool_input
