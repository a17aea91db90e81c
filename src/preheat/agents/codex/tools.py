"""What Codex's tools are for, by their names in the rollout."""

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
