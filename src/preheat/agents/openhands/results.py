"""How a call ended, as OpenHands recorded it: exit codes, flags, errors of the program, refusals. Knows no file."""

from typing import Any, NamedTuple

from preheat.agents.chat import mapping, string, text_of

RUNNING = -1
"""In place of an exit code: the command is still running, and the next call may bring its end."""


class Outcome(NamedTuple):
    """What a result says besides whose it is."""

    text: str
    is_error: bool | None
    exit_code: int | None
    detail: dict[str, Any]


def of_observation(event: dict[str, Any]) -> Outcome:
    """A tool came back. A command that exits non-zero is no error of the tool: both facts are kept apart."""
    observation = mapping(event.get("observation"))
    text = text_of(observation.get("content")) or text_of(observation.get("output"))
    failed = observation.get("is_error")
    code, detail = coded(observation.get("exit_code"))
    if observation.get("timeout") is True:
        detail["timeout"] = True
    if isinstance(observation.get("error"), str) and observation["error"]:
        # Older releases had the text of an error in place of the flag.
        failed, text = True, text or observation["error"]
    return Outcome(text, failed if isinstance(failed, bool) else None, code, detail)


def of_error(event: dict[str, Any]) -> Outcome:
    """The program could not carry the call out: bad arguments, unknown tool, a crash."""
    return Outcome(text_of(event.get("error")), True, None, {"agent_error": True})


def of_rejection(event: dict[str, Any]) -> Outcome:
    """A person or a hook said no: the call was never made."""
    by = string(event.get("rejection_source")) or "user"
    return Outcome(text_of(event.get("rejection_reason")), True, None, {"rejected": by})


def coded(code: object) -> tuple[int | None, dict[str, Any]]:
    """An exit code, or the word that there is none yet."""
    if not isinstance(code, int) or isinstance(code, bool) or abs(code) >= 2**31:
        return None, {}
    return (None, {"running": True}) if code == RUNNING else (code, {})
