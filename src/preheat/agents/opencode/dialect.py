"""How OpenCode words refusals, cancellations and its tools' own errors."""

from preheat.model.outcome import Dialect

DIALECT = Dialect(
    fields={
        "interrupted": "interrupted",
        "timed_out": "timeout",
        "rejected": {"permission": "denied", "rule": "denied", "question": "denied"},
    },
    denied=(r"The user (?:rejected permission|has specified a rule)", r"The user dismissed"),
    interrupted=(r"Tool execution aborted",),
    mistake=(
        r"(?:Error: )?Could not find oldString", r"(?:Error: )?oldString (?:not found|and newString)",
        r"apply_patch verification failed", r"The (?:arguments provided to the tool|\S+ tool was called with invalid)",
        r"(?:Error: )?File not found: ", r"(?:Error: )?You must read (?:the )?file",
        r"Model tried to call unavailable tool",
    ),
    worked=(r"Edit applied successfully", r"Wrote file successfully", r"Success\. Updated the following files"),
    empty=(r"No files found\s*\Z",),
)  # fmt: skip
