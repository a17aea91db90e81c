"""Gemini CLI's tools, present and former. Knows nothing of their arguments."""

from preheat.model.session import ToolKind

SHELL = "run_shell_command"

_KINDS: dict[str, ToolKind] = {
    SHELL: "shell",
    "list_background_processes": "shell",
    "read_background_output": "shell",
    "read_file": "read",
    "read_many_files": "read",
    "replace": "edit",
    "write_file": "write",
    "glob": "search",
    "grep_search": "search",
    "list_directory": "search",
    "search_file_content": "search",
    "google_web_search": "web",
    "web_fetch": "web",
    "enter_plan_mode": "plan",
    "exit_plan_mode": "plan",
    "update_topic": "plan",
    "write_todos": "plan",
    "codebase_investigator": "delegate",
    "delegate_to_agent": "delegate",
    "generalist": "delegate",
    "invoke_agent": "delegate",
}


def kind_of(tool: str) -> ToolKind:
    """What a tool is for."""
    return _KINDS.get(tool, "other")
