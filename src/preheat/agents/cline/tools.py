"""What the tools of Cline and of the extensions made from it are for, by their names."""

from preheat.model.session import ToolKind

_KINDS: dict[str, ToolKind] = {
    "run_commands": "shell",
    "execute_command": "shell",
    "read_command_output": "shell",
    "read_files": "read",
    "read_file": "read",
    "access_mcp_resource": "read",
    "editor": "edit",
    "apply_patch": "edit",
    "replace_in_file": "edit",
    "apply_diff": "edit",
    "insert_content": "edit",
    "search_and_replace": "edit",
    "search_replace": "edit",
    "edit_file": "edit",
    "edit": "edit",
    "write_to_file": "write",
    "search_codebase": "search",
    "search_files": "search",
    "list_files": "search",
    "list_code_definition_names": "search",
    "codebase_search": "search",
    "fetch_web_content": "web",
    "web_fetch": "web",
    "web_search": "web",
    "browser_action": "web",
    "plan_mode_respond": "plan",
    "update_todo_list": "plan",
    "spawn_agent": "delegate",
    "new_task": "delegate",
    "use_subagents": "delegate",
}
_NO_KIND = (
    "ask_question", "ask_followup_question", "attempt_completion", "use_mcp_tool", "switch_mode", "fetch_instructions",
    "condense", "summarize_task", "new_rule", "report_bug", "load_mcp_documentation", "use_skill", "skill",
    "run_slash_command", "generate_image", "generate_explanation", "act_mode_respond", "focus_chain",
)  # fmt: skip
NAMES = frozenset((*_KINDS, *_NO_KIND))
"""Every tool that may stand as a tag in the model's text."""


def kind_of(tool: str) -> ToolKind:
    """What the tool is for."""
    if tool.startswith("team_"):
        return "delegate"
    return _KINDS.get(tool, "other")
