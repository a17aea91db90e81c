"""The phrases and fields by which Copilot CLI reports refusals and running commands."""

from preheat.model.outcome import Dialect

DIALECT = Dialect(
    fields={
        "permission": "denied",
        "code": {"denied": "denied", "rejected": "denied"},
        "running": "running",
        "category": {"command_timeout": "running"},
    },
    denied=(
        r"(?:The tool call required approval|Permission denied and could not request permission|The user rejected)",
    ),
    worked=(r"File [^\n]{1,1000} (?:updated|created)",),
)
