"""Finds the shell text in the arguments of a call. Knows no agent: the argument names of all agents are here."""

import shlex
from collections.abc import Mapping
from typing import Any

from preheat.commands.wrappers import script_of

_NAMES = (
    "command", "cmd", "commands", "script", "shell_command", "bash_command", "command_line", "commandLine", "CommandLine",
    "keystrokes", "code", "text",
)  # fmt: skip
_HOLDERS = ("action", "args", "arguments", "input", "parameters")


def command_text(arguments: Mapping[str, Any]) -> str:
    """The shell text of a call; empty where there is none (a call that reads from or writes to a running command)."""
    usual = arguments.get("command")
    if usual and type(usual) is str:
        return usual
    for name in _NAMES:
        text = _text(name, arguments.get(name))
        if text:
            return text
    for name in _HOLDERS:
        inside = arguments.get(name)
        if isinstance(inside, str) and name == "input":
            return inside
        if isinstance(inside, Mapping):
            text = next((text for key in _NAMES if (text := _text(key, inside.get(key)))), "")
            if text:
                return text
    return ""


def _text(name: str, value: object) -> str:
    if isinstance(value, str):
        return value
    if not isinstance(value, list | tuple) or not value:
        return ""
    if name == "commands":  # several texts, one after the other
        return "\n".join(filter(None, (_text("command", each) for each in value)))
    if not all(isinstance(word, str) for word in value):
        return ""
    words = tuple(value)
    script = script_of(words)
    if script is not None:
        return script
    return words[0] if len(words) == 1 else shlex.join(words)
