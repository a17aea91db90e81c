"""Cursor's hooks: how events are read and answered, and where hooks are set up; by its documentation, untested.

Knows nothing of sessions on disk. No hook is installed before a call, because one that fails would refuse the call.
"""

import os
from collections.abc import Mapping
from typing import Any

from preheat.agents.claude_code.hooks import claude_settings_files
from preheat.agents.hooks import (
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
    number,
    result_text,
    seconds,
    text,
)
from preheat.model.live import HookAnswer, HookEvent, HookName
from preheat.settings import home_folder

_EVENTS: dict[str, HookName] = {
    "sessionStart": "session_start", "beforeSubmitPrompt": "prompt", "preToolUse": "before_tool", "postToolUse": "after_tool",
    "postToolUseFailure": "tool_failed", "preCompact": "before_compaction", "stop": "stop", "subagentStart": "subagent_start",
    "subagentStop": "subagent_stop", "sessionEnd": "session_end",
}  # fmt: skip
_OUTPUTS = ("output", "stdout", "contents", "content", "result", "text")


def read(payload: bytes, at: float | None = None) -> HookEvent | None:
    """Read one event."""
    payload_fields = decode_payload(payload)
    if payload_fields is None:
        return None
    session = text(payload_fields.get("conversation_id")) or text(payload_fields.get("session_id"))
    if not session:
        return None
    name = _EVENTS.get(text(payload_fields.get("hook_event_name")), "other")
    workspaces = payload_fields.get("workspace_roots")
    folders = [folder for folder in workspaces if isinstance(folder, str)] if isinstance(workspaces, list) else []
    event_fields: dict[str, Any] = {
        "session": session,
        "cwd": text(payload_fields.get("cwd")) or (folders[0] if folders else ""),
        **_specific_fields(name, payload_fields),
    }
    return common_event(name, payload_fields, "cursor", at, **event_fields)


def _specific_fields(name: HookName, payload_fields: Payload) -> dict[str, Any]:
    if name == "session_start":
        return {"source": "startup"}
    if name == "prompt":
        return {"prompt": text(payload_fields.get("prompt"))}
    if name == "stop":
        return {"stop_again": (number(payload_fields.get("loop_count")) or 0) > 0}
    if name in ("subagent_start", "subagent_stop"):
        return {"subagent": text(payload_fields.get("subagent_id")) or "subagent"}
    if name not in ("before_tool", "after_tool", "tool_failed"):
        return {}
    call_fields = {
        "call_id": text(payload_fields.get("tool_use_id")),
        "tool": text(payload_fields.get("tool_name")),
        "arguments": fields(payload_fields.get("tool_input")),
        "seconds": seconds(payload_fields.get("duration")),
    }
    if name == "tool_failed":
        failure = text(payload_fields.get("failure_type"))
        error = text(payload_fields.get("error_message"))
        return {
            **call_fields,
            "result": error,
            "is_error": True,
            "interrupted": payload_fields.get("is_interrupt") is True or failure == "aborted",
        }
    if name == "after_tool":
        output = payload_fields.get("tool_output")
        structured = fields(output)
        result = next((structured[key] for key in _OUTPUTS if isinstance(structured.get(key), str)), None)
        code = number(structured.get("exitCode"))
        return {
            **call_fields,
            "result": result_text(output) if result is None else result,
            "is_error": False,
            "exit_code": code,
        }
    return call_fields


def write(event: HookEvent, answer: HookAnswer) -> bytes | None:
    """Write the answer; Cursor takes none to a prompt, and no text for the person."""
    reply: Payload = {}
    if event.name in ("session_start", "after_tool", "tool_failed") and answer.context:
        reply["additional_context"] = cap_text(answer.context)
    if event.name == "before_tool" and answer.block:
        reply = {
            "permission": "deny",
            "agent_message": cap_text(answer.block),
            "user_message": cap_text(answer.block, 1_000),
        }
    if event.name == "stop" and answer.block and not event.stop_again:
        reply["followup_message"] = cap_text(answer.block)
    return encode_answer(reply)


# Where they are set up.
_INSTALLED = (
    "sessionStart", "beforeSubmitPrompt", "postToolUse", "postToolUseFailure", "preCompact", "stop", "sessionEnd",
)  # fmt: skip


def entries(client: Client) -> dict[str, list[Payload]]:
    """One hook for each event."""
    times = {"sessionStart": 10}
    return {event: [{"command": client.command, "timeout": times.get(event, 5)}] for event in _INSTALLED}


def user_file(environment: Mapping[str, str]) -> str:
    return os.path.join(home_folder(environment), ".cursor", "hooks.json")


def project_file(project: str) -> str:
    return os.path.join(project, ".cursor", "hooks.json")


def settings_files(environment: Mapping[str, str], project: str) -> list[str]:
    """Cursor's own files, and all of Claude Code's settings."""
    own_files = [user_file(environment), *([project_file(project)] if project else [])]
    return own_files + claude_settings_files(environment, project)


def hook_status(environment: Mapping[str, str], project: str, path: str, settings: Payload) -> HookStatus:
    return HookStatus("unknown", "Cursor says nothing in files; its settings have a page for hooks")


HOOKS = Hooks(
    "cursor",
    read,
    write,
    Moments(
        start="request",
        prompt="never",
        before_call="never",
        after_call="result",
        failure="result",
        person=False,
        resume="kept",
        compaction="next",
    ),
    Setup(
        user_file=user_file,
        project_file=project_file,
        entries=entries,
        extra_settings={"version": 1},
        settings_files=settings_files,
        duplicate_advice="Cursor runs the hooks in Claude Code's settings as well; Preheat leaves those calls unanswered, so "
        "they cost a "
        "few milliseconds and no more. In Cursor's settings the inclusion of third-party configurations turns that off.",
        next_steps=("Cursor reads the file anew when it changes; its settings have a page that shows what ran.",),
        status=hook_status,
    ),
)
