"""Hermes's tools by what they are for."""

from preheat.model.session import ToolKind

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
