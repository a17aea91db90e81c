"""Pi's tools: what each is for, and how the program words cancellations and its tools' own errors."""

from preheat.model.outcome import Dialect
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


# How Pi words cancellations and its tools' own errors.
DIALECT = Dialect(
    fields={"aborted": "interrupted", "timeout": "timeout"},
    interrupted=(r"(?:Command|Operation) aborted",),
    timeout=(r"Command timed out after ",),
    mistake=(r"Could not find the exact text", r"Found \d+ occurrences of the text", r"File not found: "),
)
