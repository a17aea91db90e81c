"""Which files a call is about, as far as its arguments say. Knows no agent: arguments go by their usual names."""

import re
from typing import Any

from preheat.model.session import ToolCall

_NAMES = ("file_path", "path", "filePath", "notebook_path", "target_file", "filename", "file", "absolute_path")
_PATCHES = ("text", "patchText", "patch", "input")
_PATCHED = re.compile(r"^(?:\*\*\* (?:Update|Add|Delete) File: |\+\+\+ (?:b/)?)([^\n\t]+)", re.MULTILINE)
_MENTIONED = re.compile(r"[\w-][\w.-]*\.[A-Za-z]\w{0,9}")
_LONGEST_PATCH = 8192
"""A longer command holds a file's text; the names that matter stand before it."""


def file_of(call: ToolCall) -> str:
    """The file that a read, an edit or a write is about; empty where the arguments do not say."""
    return _file_argument(call.input) or next(iter(_patched(call.input)), "")


def _file_argument(arguments: dict[str, Any]) -> str:
    for name in _NAMES:
        value = arguments.get(name)
        if value and value.__class__ is str:
            return value
    return ""


def changed_files(call: ToolCall) -> str:
    """The files that an edit or a write changes, one on a line."""
    return _file_argument(call.input) or "\n".join(_patched(call.input))


def _patched(arguments: dict[str, Any]) -> list[str]:
    for name in _PATCHES:
        value = arguments.get(name)
        if isinstance(value, str) and value:
            return [path.strip() for path in _PATCHED.findall(value)]
    changes = arguments.get("changes")
    if isinstance(changes, dict):
        return [path for path in changes if isinstance(path, str)]
    if isinstance(changes, list):
        paths = (change.get("path") for change in changes if isinstance(change, dict))
        return [path for path in paths if isinstance(path, str)]
    return []


def base_name(path: str) -> str:
    """The last part of a path, whichever way it is written."""
    return path.rstrip("/\\").rpartition("/")[2].rpartition("\\")[2]


def file_names_in(command: str) -> tuple[str, ...]:
    """The names of files in a path or in a shell command: words with an ending, or the last part of a path without one."""
    found = tuple(dict.fromkeys(_MENTIONED.findall(command[:_LONGEST_PATCH])))
    return found or (base_name(command[:_LONGEST_PATCH]),)
