"""How Hermes words what becomes of a call: a `status` in the result's own JSON, or a sentence in its place."""

from preheat.model.outcome import Dialect

DIALECT = Dialect(
    fields={
        "status": {
            "denied": "denied", "blocked": "denied", "pending_approval": "denied", "disabled": "denied",
            "cancelled": "interrupted", "interrupted": "interrupted", "skipped": "interrupted", "timeout": "timeout",
            "running": "running",
        },
    },
    denied=(r"BLOCKED: ", r"Command denied"),
    interrupted=(r"\[Tool execution (?:cancelled|skipped)", r"Skipped: "),
    mistake=(r"Tool '[^'\n]{1,200}' does not exist", r"Error: Invalid JSON arguments"),
)  # fmt: skip
