"""How a call ended, as OpenHands recorded it: exit codes, flags, errors of the program, refusals. Knows no file."""

from typing import Any, NamedTuple

from preheat.agents.chat import mapping, string, text_of

RUNNING_CODE = -1
"""Recorded instead of an exit code while a command is running; a later call may report its end."""


class RecordedResult(NamedTuple):
    """The result of a call, as recorded by the program."""

    text: str
    is_error: bool | None
    exit_code: int | None
    detail: dict[str, Any]


def result_of_observation(event: dict[str, Any]) -> RecordedResult:
    """The result of a tool that ran. A command that exits non-zero is no error of the tool: flag and exit code are kept apart."""
    observation = mapping(event.get("observation"))
    text = text_of(observation.get("content")) or text_of(observation.get("output"))
    failed = observation.get("is_error")
    code, detail = split_exit_code(observation.get("exit_code"))
    if observation.get("timeout") is True:
        detail["timeout"] = True
    if isinstance(observation.get("error"), str) and observation["error"]:
        # Older releases recorded the text of an error instead of the flag.
        failed, text = True, text or observation["error"]
    return RecordedResult(text, failed if isinstance(failed, bool) else None, code, detail)


def result_of_error(event: dict[str, Any]) -> RecordedResult:
    """The result of a call that the program could not run: bad arguments, unknown tool, a crash."""
    return RecordedResult(text_of(event.get("error")), True, None, {"agent_error": True})


def result_of_rejection(event: dict[str, Any]) -> RecordedResult:
    """The result of a call that a person or a hook refused."""
    by = string(event.get("rejection_source")) or "user"
    return RecordedResult(text_of(event.get("rejection_reason")), True, None, {"rejected": by})


def split_exit_code(code: object) -> tuple[int | None, dict[str, Any]]:
    """The exit code, and a detail if the command is still running."""
    if not isinstance(code, int) or isinstance(code, bool) or abs(code) >= 2**31:
        return None, {}
    return (None, {"running": True}) if code == RUNNING_CODE else (code, {})
