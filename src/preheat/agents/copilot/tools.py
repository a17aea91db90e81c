"""What Copilot CLI's tools are for, by their names."""

from typing import Any

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
