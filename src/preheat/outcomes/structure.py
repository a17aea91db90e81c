"""Reads the JSON report in a result: error, success, status, exit code.

Only where the value is the tool's answer, not something it was asked to show. Knows no agent.
"""

import re
from typing import Any, NamedTuple

import msgspec

from preheat.commands.words import name_set
from preheat.model.outcome import CallEnding
from preheat.model.session import ToolKind

LONGEST = 200_000
_SMALL = 2_000
_DATA: frozenset[ToolKind] = frozenset(["read", "search", "shell"])
"""Kinds of tools whose JSON is more likely what was asked for than a report on the call."""
_FAILED = frozenset(["error", "failed", "failure", "not_found", "invalid"])
_WORKED = frozenset(["ok", "success", "succeeded", "completed", "complete", "done"])
_ENDINGS: dict[str, CallEnding] = {
    "denied": "denied", "rejected": "denied", "blocked": "denied", "declined": "denied", "cancelled": "interrupted",
    "canceled": "interrupted", "aborted": "interrupted", "interrupted": "interrupted", "timeout": "timeout",
    "timed_out": "timeout", "running": "running", "in_progress": "running",
}  # fmt: skip
_CODES = ("exit_code", "exitCode", "returncode", "return_code")
_REPORT = name_set(
    "status message error output result success ok reason detail code exit_code stdout stderr session_id task_id pid id"
    " approval command duration hint pattern_key description"
)
"""What a report on a call is made of: a `status` among other fields is that of some thing."""
_LOOKING = re.compile(r"search|find|list|query|lookup|glob|grep", re.IGNORECASE)
_OUTPUTS = ("output", "stdout", "stderr")


class Report(NamedTuple):
    """The report of a JSON value; `failed` is None where it does not say."""

    failed: bool | None = None
    ending: CallEnding | None = None
    exit_code: int | None = None
    message: str = ""


def read_report(text: str, kind: ToolKind) -> Report | None:
    """Read the first value of the result, if there is one that reports."""
    value = _object(text)
    if value is None:
        return None
    code = next((value[name] for name in _CODES if isinstance(value.get(name), int)), None)
    wrapped = code is not None and any(isinstance(value.get(name), str) for name in _OUTPUTS)
    if kind in _DATA and not wrapped and not _only_reports(value):
        return None
    message = _message(value)
    status = value.get("status")
    if isinstance(status, str) and status.lower() in _ENDINGS and (wrapped or _REPORT.issuperset(value)):
        return Report(None, _ENDINGS[status.lower()], code, message)
    return Report(
        _says_failed(value, status), None, code if wrapped and code is not None and abs(code) < 2**31 else None, message
    )


def output_in(text: str) -> str | None:
    """What a command printed, where its result is an envelope of JSON around that."""
    value = _object(text)
    if value is None:
        return None
    parts = [value[name] for name in (*_OUTPUTS, "error") if isinstance(value.get(name), str)]
    return "\n".join(parts) if any(name in value for name in _OUTPUTS) else None


def message_in(text: str) -> str:
    """What a report in JSON says went wrong; empty where the text is none."""
    value = _object(text)
    return "" if value is None else _message(value)


def lists_nothing(text: str, tool: str) -> bool:
    """Whether a tool that looks for things answers with an empty list: `{"results": []}`, at most one level further in."""
    if len(text) > _SMALL or not text.startswith("{") or _LOOKING.search(tool) is None:
        return False
    value = _object(text)
    if not value or value.get("success") is False:
        return False
    inner = [item for field in value.values() if isinstance(field, dict) for item in field.values()]
    lists = [item for item in (*value.values(), *inner) if isinstance(item, list)]
    return bool(lists) and not any(lists)


def _object(text: str) -> dict[str, Any] | None:
    if not text.startswith("{") or len(text) > LONGEST:
        return None
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _only_reports(value: dict[str, Any]) -> bool:
    return len(value) <= 3 and ("error" in value or "success" in value)


def _says_failed(value: dict[str, Any], status: object) -> bool | None:
    if _is_set(value.get("error")) or value.get("success") is False or value.get("ok") is False:
        return True
    if value.get("isError") is True or value.get("is_error") is True:
        return True
    if isinstance(status, str) and status.lower() in _FAILED:
        return True
    if (
        value.get("success") is True
        or value.get("ok") is True
        or (isinstance(status, str) and status.lower() in _WORKED)
    ):
        return False
    return None


def _is_set(error: object) -> bool:
    return bool(error) and isinstance(error, str | dict | list | bool)


def _message(value: dict[str, Any]) -> str:
    for name in ("error", "message", "stderr", "reason"):
        found = value.get(name)
        if isinstance(found, dict):
            found = found.get("message")
        if isinstance(found, str) and found.strip():
            return found.strip()
    return ""
