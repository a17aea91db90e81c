"""Pi's tools by what they are for."""

from preheat.model.session import ToolKind

BASH = "bash"
_KINDS: dict[str, ToolKind] = {
    BASH: "shell",
    "read": "read",
    "edit": "edit",
    "write": "write",
    "grep": "search",
    "find": "search",
    "ls": "search",
    "todo": "plan",
    "subagent": "delegate",
}


def kind_of(tool: str) -> ToolKind:
    """What a tool is for; tools of extensions are `other`, except two that nearly all extensions have."""
    return _KINDS.get(tool, "other")
