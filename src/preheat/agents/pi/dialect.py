"""How Pi words cancellations and its tools' own errors."""

from preheat.model.outcome import Dialect

DIALECT = Dialect(
    fields={"aborted": "interrupted", "timeout": "timeout"},
    interrupted=(r"(?:Command|Operation) aborted",),
    timeout=(r"Command timed out after ",),
    mistake=(r"Could not find the exact text", r"Found \d+ occurrences of the text", r"File not found: "),
)
