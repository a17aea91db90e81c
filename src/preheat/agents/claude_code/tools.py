"""Claude Code's tools: what each is for, and how the program words refusals, cancellations and its tools' own errors."""

from preheat.model.outcome import Dialect
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


# How Claude Code words refusals, cancellations and its tools' own errors.
DIALECT = Dialect(
    fields={
        "denial": "denied",
        "interrupted": "interrupted",
        "timedOutAfterMs": "timeout",
        "returnCodeInterpretation": {"No matches found": "empty"},
    },
    denied=(
        r"The user doesn't want to (?:proceed with this tool use|take this action)",
        r"(?:Claude requested permissions? to|Permission to (?:use|run)|Permission for this)\b",
        r"This command requires approval",
        r"This Bash command contains multiple operations\. The following parts? requires? approval",
        r"<tool_use_error>(?:Permission|The user doesn't want)",
        r"(?:PreToolUse:\w+ hook|Hook PreToolUse:\w+|Execution stopped by PreToolUse hook)",
        r"Operation stopped by hook",
        r"[^\n]{0,120}is temporarily unavailable, so auto mode cannot determine",
        r"[^\n]{0,80}was blocked\. For security",
    ),
    interrupted=(
        r"<tool_use_error>(?:Sibling tool call errored|Cancelled: parallel tool call)",
        r"(?:Exit code \d+\n)?\[Request interrupted by user",
        r"(?:Error: )?Tool use (?:was )?(?:cancell?ed|interrupted|aborted)",
    ),
    timeout=(r"(?:Error: )?Command timed out after ", r"Exit code 143\nCommand timed out after "),
    mistake=(
        r"<tool_use_error>(?:InputValidationError|File has not been read yet|String to replace not found|File does not exist"
        r"|Path does not exist|No changes to make|Found \d+ matches|Unknown skill|No such tool|Skill )",
        r"(?:File has not been read yet|String to replace not found|File does not exist|File content \()",
        r"Agent type '[^'\n]{1,100}' not found",
    ),
    failed=(r"<tool_use_error>",),
    worked=(
        r"The file [^\n]{1,1000} has been (?:updated|created)", r"File created successfully at",
        r"Todos have been modified successfully", r"Updated task #", r"Task #\S+ created", r"Launching skill: ",
        r"Command running in background with ID", r"User has (?:approved|answered)",
    ),
    empty=(r"No matches found\s*(?:\n|\Z)", r"No files found\s*(?:\n|\Z)", r"Found 0 (?:total )?(?:files|matches|occurrences)"),
    running=(r"<retrieval_status>(?:timeout|not_ready)</retrieval_status>",),
)  # fmt: skip
