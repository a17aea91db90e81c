"""Cursor's tools by what they are for; the editor and the command line call them differently."""

from preheat.model.session import ToolKind

_KINDS: dict[str, ToolKind] = {
    "shell": "shell",
    "run_terminal_cmd": "shell",
    "run_terminal_command": "shell",
    "read": "read",
    "read_file": "read",
    "read_lints": "read",
    "readlints": "read",
    "strreplace": "edit",
    "edit": "edit",
    "edit_file": "edit",
    "search_replace": "edit",
    "applypatch": "edit",
    "apply_patch": "edit",
    "reapply": "edit",
    "editnotebook": "edit",
    "edit_notebook": "edit",
    "write": "write",
    "delete": "write",
    "delete_file": "write",
    "grep": "search",
    "grep_search": "search",
    "ripgrep_raw_search": "search",
    "ripgrep_search": "search",
    "glob": "search",
    "glob_file_search": "search",
    "file_search": "search",
    "ls": "search",
    "list_dir": "search",
    "semanticsearch": "search",
    "semantic_search_full": "search",
    "codebase_search": "search",
    "websearch": "web",
    "web_search": "web",
    "webfetch": "web",
    "web_fetch": "web",
    "todowrite": "plan",
    "todo_write": "plan",
    "create_plan": "plan",
    "createplan": "plan",
    "askquestion": "plan",
    "ask_question": "plan",
    "switchmode": "plan",
    "switch_mode": "plan",
    "task": "delegate",
    "subagent": "delegate",
}
SPAWN_TOOLS = ("task", "task_v2")


def kind_of(tool: str) -> ToolKind:
    """What a tool is for; tools of MCP servers are `other`."""
    return _KINDS.get(tool.lower().removesuffix("_v2"), "other")
