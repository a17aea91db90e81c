"""Claude Code's tools by what they are for."""

from preheat.model.session import ToolKind

_KINDS: dict[str, ToolKind] = {
    "Bash": "shell",
    "BashOutput": "shell",
    "KillBash": "shell",
    "KillShell": "shell",
    "PowerShell": "shell",
    "Monitor": "shell",
    "Read": "read",
    "NotebookRead": "read",
    "ReadMcpResourceTool": "read",
    "TaskOutput": "read",
    "AgentOutputTool": "read",
    "Edit": "edit",
    "MultiEdit": "edit",
    "NotebookEdit": "edit",
    "Write": "write",
    "Glob": "search",
    "Grep": "search",
    "LS": "search",
    "LSP": "search",
    "ToolSearch": "search",
    "ListMcpResourcesTool": "search",
    "WebFetch": "web",
    "WebSearch": "web",
    "TodoWrite": "plan",
    "TodoRead": "plan",
    "TaskCreate": "plan",
    "TaskUpdate": "plan",
    "TaskList": "plan",
    "TaskGet": "plan",
    "EnterPlanMode": "plan",
    "ExitPlanMode": "plan",
    "exit_plan_mode": "plan",
    "Task": "delegate",
    "Agent": "delegate",
    "SendMessage": "delegate",
    "TaskStop": "delegate",
    "Workflow": "delegate",
}


def kind_of(tool: str) -> ToolKind:
    """What a tool is for; tools of MCP servers are `other`."""
    return _KINDS.get(tool, "other")
