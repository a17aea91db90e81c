"""The argument that says most about a call, on one line. Knows no agent: arguments go by their usual names."""

from typing import Any

import msgspec

LONGEST_SUMMARY = 300

_TELLING = (
    "command", "cmd", "commands", "script", "code", "file_path", "filePath", "path", "notebook_path", "target_file",
    "pattern", "query", "url", "regex", "action", "input", "patch", "text", "prompt", "description", "goal", "name",
)  # fmt: skip
"""In order of what they tell."""


def summarise(arguments: dict[str, Any]) -> str:
    """The argument that tells most about a call, on one line."""
    for name in _TELLING:
        value = arguments.get(name)
        if value:
            text = value if isinstance(value, str) else flatten(value)
            break
    else:
        text = flatten(arguments) if arguments else ""
    return " ".join(text[: 4 * LONGEST_SUMMARY].split())


def flatten(value: Any) -> str:
    """Any value as a text."""
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        if len(value) == 3 and value[1] in ("-c", "-lc"):  # a shell and its script
            return str(value[2])
        return " ".join(value)
    try:
        return msgspec.json.encode(value).decode()
    except (TypeError, UnicodeEncodeError, RecursionError):
        return str(value)
