"""How Cline words refusals and its tools' own errors."""

from preheat.model.outcome import Dialect

DIALECT = Dialect(
    fields={"denied": "denied"},
    denied=(r"The user denied this operation",),
    failed=(r"The tool execution failed with the following error:",),
    mistake=(r"\[ERROR\] You did not use a tool", r"Missing value for required parameter"),
    empty=(r"Found 0 results",),
)
