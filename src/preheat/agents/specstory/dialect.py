"""How the agents whose sessions SpecStory writes down word refusals, inside its fences."""

from preheat.model.outcome import Dialect

_FENCED = r"(?:[\s\S]{0,20000}?\n)?```(?:text)?\n"

DIALECT = Dialect(
    denied=(_FENCED + r"The user doesn't want to (?:proceed with this tool use|take this action)",),
    empty=(_FENCED + r"No (?:files|matches) found",),
    interrupted=(_FENCED + r"(?:Exit code \d+\n)?\[Request interrupted by user",),
    failed=(_FENCED + r"(?:<tool_use_error>|Error: |Exit code [1-9])",),
)
