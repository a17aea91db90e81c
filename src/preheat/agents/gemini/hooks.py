"""Gemini CLI's hooks: how events are read and answered, and where hooks are set up.

Knows nothing of sessions on disk. No hook is installed for `PreCompress`, which fires before every request, compaction or not.
"""

import json
import os
import re
from collections.abc import Mapping
from typing import Any

from preheat.agents.gemini import roots
from preheat.agents.gemini.tools import SHELL, result_of
from preheat.agents.hooks import (
    UNANSWERED,
    Client,
    Hooks,
    HookStatus,
    Moments,
    Payload,
    Setup,
    cap_text,
    common_event,
    decode_payload,
    encode_answer,
    fields,
    is_true,
    result_text,
    start_of,
    text,
)
from preheat.files import read_text
from preheat.model.live import HookAnswer, HookEvent, HookName

_EVENTS: dict[str, HookName] = {
    "SessionStart": "session_start", "BeforeAgent": "prompt", "BeforeTool": "before_tool", "AfterTool": "after_tool",
    "AfterAgent": "stop", "SessionEnd": "session_end",
}  # fmt: skip
_OWN_CONTEXT = re.compile(r"\A(?:<hook_context>.*?</hook_context>\s*)+", re.DOTALL)
"""Texts of hooks at the start of a session, which the program puts before the first prompt."""
_NAME = "preheat"


def read(payload: bytes, at: float | None = None) -> HookEvent | None:
    """Read one event."""
    payload_fields = decode_payload(payload)
    if payload_fields is None or not text(payload_fields.get("session_id")):
        return None
    name = _EVENTS.get(text(payload_fields.get("hook_event_name")), "other")
    return _event(name, payload_fields, at)


def _event(name: HookName, payload_fields: Payload, at: float | None) -> HookEvent:
    event_fields: dict[str, Any] = {}
    if name == "session_start":
        event_fields["source"] = start_of(payload_fields.get("source"))
    elif name == "prompt":
        event_fields["prompt"] = _OWN_CONTEXT.sub("", text(payload_fields.get("prompt")))
    elif name == "stop":
        event_fields["stop_again"] = is_true(payload_fields.get("stop_hook_active"))
    elif name in ("before_tool", "after_tool"):
        # Calls have no ids: the time tells two equal calls from one call that is reported twice.
        event_fields |= {
            "tool": text(payload_fields.get("tool_name")),
            "arguments": fields(payload_fields.get("tool_input")),
        }
        event_fields["call_id"] = text(payload_fields.get("timestamp"))
    if name == "after_tool":
        response = fields(payload_fields.get("tool_response"))
        error = fields(response.get("error"))
        status = "error" if error else "success"
        result = text(error.get("message")) or result_text(response.get("llmContent")) or ""
        recorded_call = {
            "name": event_fields["tool"],
            "status": status,
            "result": result,
            "resultDisplay": response.get("returnDisplay"),
        }
        tool_result = result_of(recorded_call, "")
        event_fields |= {
            "result": tool_result.text,
            "is_error": tool_result.is_error,
            "exit_code": tool_result.exit_code,
        }
        event_fields["interrupted"] = tool_result.detail.get("exception") == "interrupted"
        name = "tool_failed" if error else name
    return common_event(name, payload_fields, "gemini", at, **event_fields)


def write(event: HookEvent, answer: HookAnswer) -> bytes | None:
    """Write the answer. The program drops context after a tool's error, and takes only a refusal before a call."""
    reply: Payload = {}
    specific_answer: Payload = {}
    person = answer.person
    if event.name == "stop":
        person = person or answer.context
        if answer.block and not event.stop_again:
            reply = {"decision": "deny", "reason": cap_text(answer.block)}
    elif event.name == "before_tool":
        if answer.block:
            reply = {"decision": "deny", "reason": cap_text(answer.block)}
    elif event.name in ("session_start", "prompt", "after_tool"):
        if answer.context:
            specific_answer["additionalContext"] = cap_text(answer.context)
        if answer.output and event.name == "after_tool":
            reply = {"decision": "deny", "reason": cap_text(answer.output, 100_000)}
    if specific_answer:
        reply["hookSpecificOutput"] = {"hookEventName": event.host_event, **specific_answer}
    if person and event.name not in UNANSWERED:
        reply["systemMessage"] = cap_text(person, 1_000)
    return encode_answer(reply)


# Where they are set up.
_INSTALLED = ("SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "AfterAgent", "SessionEnd")
_MATCHERS = {"BeforeTool": f"^{SHELL}$", "AfterTool": ".*"}
_TIMEOUTS = {"SessionStart": 10_000}


def entries(client: Client) -> dict[str, list[Payload]]:
    """One group of hooks for each event; before a call only for shell commands. Timeouts are in milliseconds."""
    found: dict[str, list[Payload]] = {}
    for event in _INSTALLED:
        hook = {"name": _NAME, "type": "command", "command": client.command, "timeout": _TIMEOUTS.get(event, 5_000)}
        group: Payload = {"matcher": _MATCHERS[event]} if event in _MATCHERS else {}
        found[event] = [{**group, "hooks": [hook]}]
    return found


def _gemini_folder(environment: Mapping[str, str]) -> str:
    return os.path.dirname(roots(environment)[0])


def user_file(environment: Mapping[str, str]) -> str:
    return os.path.join(_gemini_folder(environment), "settings.json")


def project_file(project: str) -> str:
    return os.path.join(project, ".gemini", "settings.json")


def settings_files(environment: Mapping[str, str], project: str) -> list[str]:
    return [user_file(environment), *([project_file(project)] if project else [])]


def hook_status(environment: Mapping[str, str], project: str, path: str, settings: Payload) -> HookStatus:
    """Whether the hooks run: they may be off altogether or by name, and none runs in a folder that is not trusted."""
    configuration = fields(settings.get("hooksConfig"))
    disabled = configuration.get("disabled")
    if configuration.get("enabled") is False or (isinstance(disabled, list) and _NAME in disabled):
        return HookStatus("no", f"they are turned off under `hooksConfig` in {path}")
    security = fields(fields(settings.get("security")).get("folderTrust"))
    if security.get("enabled") is False or not project:
        return HookStatus("yes")
    if _is_trusted(environment, project) is False:
        return HookStatus("no", "this folder is not trusted in Gemini CLI: `/permissions` there changes that")
    return HookStatus("yes")


def _is_trusted(environment: Mapping[str, str], project: str) -> bool | None:
    """Whether the program trusts a folder, by the list of `TRUST_FOLDER`, `TRUST_PARENT` (the folder above), `DO_NOT_TRUST`."""
    path = environment.get("GEMINI_CLI_TRUSTED_FOLDERS_PATH") or os.path.join(
        _gemini_folder(environment), "trustedFolders.json"
    )
    try:
        known = fields(json.loads(read_text(path)))
    except (OSError, ValueError, RecursionError):
        return None
    verdicts = {}
    for folder, word in known.items():
        place = os.path.dirname(folder) if word == "TRUST_PARENT" else folder
        if project == place or project.startswith(place.rstrip("/\\") + os.sep):
            verdicts[len(place)] = word != "DO_NOT_TRUST"
    return verdicts[max(verdicts)] if verdicts else None


HOOKS = Hooks(
    "gemini",
    read,
    write,
    Moments(
        start="request",
        prompt="request",
        before_call="never",
        after_call="result",
        failure="never",
        person=True,
        resume="lost",
        compaction="lost",
    ),
    Setup(
        user_file=user_file,
        project_file=project_file,
        entries=entries,
        settings_files=settings_files,
        next_steps=("Gemini CLI runs hooks only in folders that you trust (`/permissions`); `/hooks` lists them.",),
        status=hook_status,
        tested_version="0.61.0",
    ),
)
