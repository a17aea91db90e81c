"""How a call of a tool other than a shell is named: the tool with its arguments, where they are few and short. Knows no session.

The tool's name alone says little: nearly every session edits something, and the arguments make the difference.
"""

from collections.abc import Mapping
from typing import Any

from preheat.calls.seen import JudgedCall, JudgedSession

_MOST = 2
_LONGEST = 80


def describe_tool_call(tool: str, arguments: Mapping[str, Any]) -> str:
    """The tool with its arguments; the tool alone where they are many, long or not plain."""
    plain = all(isinstance(value, str | int | float | bool) for value in arguments.values())
    if not plain or not 0 < len(arguments) <= _MOST:
        return tool
    shown = ", ".join(f"{name}={value}" for name, value in sorted(arguments.items()))
    return f"{tool} {shown}" if len(shown) <= _LONGEST and "\n" not in shown else tool


def describe_call(seen: JudgedSession, each: JudgedCall) -> str:
    """A call of a session, its paths relative to the project."""
    return seen.relative(describe_tool_call(each.record.tool, each.call.input))
