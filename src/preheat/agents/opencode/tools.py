"""OpenCode's tools by what they are for."""

from preheat.model.session import ToolKind

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
