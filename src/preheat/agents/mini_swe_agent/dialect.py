"""How mini-swe-agent words what it does not run."""

from preheat.model.outcome import Dialect

DIALECT = Dialect(
    fields={"exception": {"timeout": "timeout", "TimeoutExpired": "timeout"}},
    timeout=(r"The last command <command>[\s\S]{0,20000}?</command> timed out",),
    mistake=(
        r"Please always provide EXACTLY ONE action in triple backticks", r"Format error:",
        r"Tool call error:", r"No tool calls found in the response", r"Unknown tool ",
    ),
)  # fmt: skip
