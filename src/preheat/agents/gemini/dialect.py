"""How Gemini CLI words refusals, cancellations and its tools' own errors."""

from preheat.model.outcome import Dialect

DIALECT = Dialect(
    fields={"status": {"cancelled": "interrupted"}, "exception": {"timeout": "timeout", "interrupted": "interrupted"}},
    denied=(r"\[Operation Cancelled\] Reason: User (?:denied|did not allow)", r"Tool execution (?:denied|blocked)"),
    interrupted=(r"\[Operation Cancelled\]", r"Command was cancelled by user", r"User cancelled"),
    timeout=(r"Command was automatically cancelled because it exceeded the timeout",),
    mistake=(
        r"Failed to edit, (?:could not find|0 occurrences|expected)", r"(?:Error: )?Tool \"[^\"\n]{1,200}\" not found",
        r"(?:Error: )?params(?:\.| )", r"File (?:path must|not found)",
    ),
    empty=(r"No matches found for pattern", r"No files found matching", r"Directory [^\n]{1,500} is empty"),
)  # fmt: skip
