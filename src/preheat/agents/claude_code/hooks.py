"""Claude Code's hooks: how events are read and answered, and where hooks are set up.

Knows nothing of sessions on disk. Other programs also run the hooks in Claude Code's settings: their events are ignored, because
they take no answer of this form and have hooks of their own.
"""

import json
import os
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from preheat.agents.claude_code import roots
from preheat.agents.hooks import (
    Client,
    Hooks,
    HookStatus,
    Moments,
    Payload,
    Setup,
    cap_text,
    common_answer,
    common_event,
    decode_payload,
    encode_answer,
    fields,
    is_true,
    number,
    result_text,
    seconds,
    start_of,
    text,
)
from preheat.files import read_file, read_text
from preheat.model.live import HookAnswer, HookEvent, HookName
from preheat.settings import home_folder

_EVENTS: dict[str, HookName] = {
    "SessionStart": "session_start", "UserPromptSubmit": "prompt", "PreToolUse": "before_tool", "PostToolUse": "after_tool",
    "PostToolUseFailure": "tool_failed", "PreCompact": "before_compaction", "PostCompact": "after_compaction", "Stop": "stop",
    "SubagentStart": "subagent_start", "SubagentStop": "subagent_stop", "SessionEnd": "session_end",
}  # fmt: skip
_FOREIGN_FIELDS = ("cursor_version", "tool_result", "initial_prompt", "conversation_id")
"""Fields of other programs that run the hooks in Claude Code's settings."""
_EXIT_LINE = re.compile(r"(?:Error: )?Exit code (-?\d{1,10})(?:\n|\Z)")
_SHELL = "Bash"


def read(payload: bytes, at: float | None = None) -> HookEvent | None:
    """Read one event; None for an event of another program."""
    payload_fields = decode_payload(payload)
    if (
        payload_fields is None
        or not text(payload_fields.get("session_id"))
        or any(name in payload_fields for name in _FOREIGN_FIELDS)
    ):
        return None
    name = _EVENTS.get(text(payload_fields.get("hook_event_name")), "other")
    return common_event(name, payload_fields, "claude_code", at, **_specific_fields(name, payload_fields))


def _specific_fields(name: HookName, payload_fields: Payload) -> dict[str, Any]:
    if name == "session_start":
        return {"source": start_of(payload_fields.get("source"))}
    if name == "prompt":
        return {"prompt": text(payload_fields.get("prompt"))}
    if name == "stop":
        return {"stop_again": is_true(payload_fields.get("stop_hook_active"))}
    if name in ("before_tool", "after_tool", "tool_failed"):
        call = {
            "call_id": text(payload_fields.get("tool_use_id")),
            "tool": text(payload_fields.get("tool_name")),
            "arguments": fields(payload_fields.get("tool_input")),
            "seconds": seconds(payload_fields.get("duration_ms")),
        }
        return {**call, **_result_fields(name, payload_fields)}
    if name in ("subagent_start", "subagent_stop"):
        return {"subagent": text(payload_fields.get("agent_id")) or "subagent"}
    return {}


def _result_fields(name: HookName, payload_fields: Payload) -> dict[str, Any]:
    if name == "tool_failed":
        error = text(payload_fields.get("error"))
        found = _EXIT_LINE.match(error)
        return {
            "result": error,
            "is_error": True,
            "exit_code": int(found[1]) if found else None,
            "interrupted": is_true(payload_fields.get("is_interrupt")),
        }
    if name == "after_tool":
        response = payload_fields.get("tool_response")
        structured = fields(response)
        return {
            "result": _result_of_response(response, structured),
            "is_error": False,
            "exit_code": number(structured.get("exitCode")),
            "interrupted": is_true(structured.get("interrupted")),
        }
    return {}


def _result_of_response(response: Any, structured: Payload) -> str | None:
    """The text in a tool's structured response; the payload lacks the text that the model gets."""
    if not isinstance(response, dict):
        return result_text(response)
    if "stdout" in structured or "stderr" in structured:
        return "\n".join(part for part in (text(structured.get("stdout")), text(structured.get("stderr"))) if part)
    if "structuredPatch" in structured or "originalFile" in structured:
        return ""  # an edit: the response holds the whole file, before and after
    file = fields(structured.get("file"))
    if isinstance(file.get("content"), str):
        return str(file["content"])
    for name in ("content", "result", "output", "text", "filenames"):
        if structured.get(name):
            return result_text(structured[name])
    return result_text(response)


def write(event: HookEvent, answer: HookAnswer) -> bytes | None:
    """Write the answer; `answer.output` replaces a command's output."""
    encoded_answer = common_answer(event, answer)
    if not answer.output or event.name != "after_tool" or event.tool != _SHELL:
        return encoded_answer
    complete_answer: Payload = msgspec.json.decode(encoded_answer) if encoded_answer else {}
    specific_answer = complete_answer.setdefault("hookSpecificOutput", {"hookEventName": event.host_event})
    specific_answer["updatedToolOutput"] = {
        "stdout": cap_text(answer.output),
        "stderr": "",
        "interrupted": event.interrupted,
        "isImage": False,
    }
    return encode_answer(complete_answer)


# Where they are set up.
_TIMEOUTS = {"SessionStart": 10, "SessionEnd": 3}
_POSTED = ("PreToolUse", "PostToolUse", "PostToolUseFailure")
"""The frequent events. The others use the command, because only that can start the daemon."""
_INSTALLED = (
    "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "PreCompact", "Stop", "SessionEnd",
)  # fmt: skip


def entries(client: Client) -> dict[str, list[Payload]]:
    """One group of hooks for each event; before a call only for shell commands."""
    found: dict[str, list[Payload]] = {}
    for event in _INSTALLED:
        if client.address and event in _POSTED:
            header = {"Authorization": f"Bearer {client.token}"}
            hook: Payload = {"type": "http", "url": client.address, "headers": header, "timeout": 5}
        else:
            hook = {"type": "command", "command": client.command, "timeout": _TIMEOUTS.get(event, 5)}
        found[event] = [{"matcher": _SHELL, "hooks": [hook]} if event == "PreToolUse" else {"hooks": [hook]}]
    return found


def user_file(environment: Mapping[str, str]) -> str:
    """The settings file for all projects, in the folder above the sessions."""
    return os.path.join(os.path.dirname(roots(environment)[0]), "settings.json")


def project_file(project: str) -> str:
    """The settings file of one person for one project, which is not committed."""
    return os.path.join(project, ".claude", "settings.local.json")


def claude_settings_files(environment: Mapping[str, str], project: str) -> list[str]:
    """Every settings file whose hooks Claude Code runs in a project."""
    found = [user_file(environment)]
    if project:
        found += [os.path.join(project, ".claude", "settings.json"), project_file(project)]
    return found


def hook_status(environment: Mapping[str, str], project: str, path: str, settings: Payload) -> HookStatus:
    """Whether the hooks run: one setting turns all hooks off, and interactive sessions ask to trust the folder first."""
    for each in claude_settings_files(environment, project):
        try:
            if is_true((decode_payload(read_file(each)) or {}).get("disableAllHooks")):
                return HookStatus("no", f"`disableAllHooks` is set in {each}")
        except OSError:
            continue
    if project and _is_trusted(environment, project) is False:
        return HookStatus("no", "this folder is not trusted in Claude Code yet: it asks when you start it here")
    return HookStatus("yes")


def _is_trusted(environment: Mapping[str, str], project: str) -> bool | None:
    base = environment.get("CLAUDE_CONFIG_DIR") or home_folder(environment)
    try:
        known = fields(fields(json.loads(read_text(os.path.join(base, ".claude.json")))).get("projects"))
    except (OSError, ValueError, RecursionError):
        return None
    entry = fields(known.get(project))
    return is_true(entry["hasTrustDialogAccepted"]) if "hasTrustDialogAccepted" in entry else None


HOOKS = Hooks(
    "claude_code",
    read,
    write,
    Moments(
        start="request",
        prompt="request",
        before_call="result",
        after_call="result",
        failure="result",
        person=True,
        resume="kept",
        compaction="start",
    ),
    Setup(
        user_file=user_file,
        project_file=project_file,
        entries=entries,
        can_post=True,
        settings_files=claude_settings_files,
        next_steps=("New sessions have them at once; `/hooks` in Claude Code lists them.",),
        status=hook_status,
    ),
)
