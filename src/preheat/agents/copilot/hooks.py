"""Copilot CLI's hooks: how events are read and answered, and where hooks are set up.

Knows nothing of sessions on disk. Events are registered by the names that begin with a capital: only then does a payload name
its event. Tools have other names in payloads, which are turned back. Answers are flat all the same.
"""

import os
from collections.abc import Mapping
from typing import Any

from preheat.agents.claude_code.hooks import claude_settings_files
from preheat.agents.copilot import EVENTS, roots
from preheat.agents.copilot.records import Data
from preheat.agents.copilot.tools import result_of
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
    is_true,
    start_of,
    text,
)
from preheat.model.live import HookAnswer, HookEvent, HookName

_EVENTS: dict[str, HookName] = {
    "SessionStart": "session_start", "UserPromptSubmit": "prompt", "PreToolUse": "before_tool", "PostToolUse": "after_tool",
    "PostToolUseFailure": "tool_failed", "PreCompact": "before_compaction", "Stop": "stop", "SubagentStart": "subagent_start",
    "SubagentStop": "subagent_stop", "SessionEnd": "session_end",
}  # fmt: skip
_TOOLS = {
    "Bash": "bash", "PowerShell": "powershell", "Read": "view", "Write": "create", "Edit": "edit", "Grep": "grep",
    "Glob": "glob", "Agent": "task", "Task": "task", "WebFetch": "web_fetch", "WebSearch": "web_search",
    "TodoWrite": "update_todo",
}  # fmt: skip


def read(payload: bytes, at: float | None = None) -> HookEvent | None:
    """Read one event; tools get the names that they have in the session."""
    body = decode_payload(payload)
    if body is None:
        return None
    session = text(body.get("session_id")) or text(body.get("sessionId"))
    if not session:
        return None
    name = _EVENTS.get(text(body.get("hook_event_name")), "other")
    if name == "other" and "agentName" in body:
        name = "subagent_start"  # always sent in the other spelling
    values: dict[str, Any] = {
        "session": session,
        "transcript": text(body.get("transcript_path"))
        or text(body.get("transcriptPath"))
        or _transcript_path(session),
        "subagent": text(body.get("agent_id")) or ("subagent" if name.startswith("subagent") else ""),
        **_event_fields(name, body),
    }
    return common_event(name, body, "copilot", at, **values)


def _transcript_path(session: str) -> str:
    """The session's file: payloads name it only at the end of a turn."""
    plain = session.replace("-", "").isalnum()
    return os.path.join(roots(os.environ)[0], session, EVENTS) if plain else ""


def _event_fields(name: HookName, body: Payload) -> dict[str, Any]:
    if name == "session_start":
        return {"source": start_of(body.get("source")), "prompt": text(body.get("initial_prompt"))}
    if name == "prompt":
        return {"prompt": text(body.get("prompt"))}
    if name == "stop":
        return {"stop_again": is_true(body.get("stop_hook_active"))}
    if name not in ("before_tool", "after_tool", "tool_failed"):
        return {}
    tool = text(body.get("tool_name"))
    found: dict[str, Any] = {"tool": _TOOLS.get(tool, tool), "arguments": fields(body.get("tool_input"))}
    # Calls have no ids here; the timestamp tells two equal calls apart from one that is reported twice.
    found["call_id"] = text(body.get("timestamp"))
    if name == "tool_failed":
        return {**found, "result": text(body.get("error")), "is_error": True}
    if name == "after_tool":
        result = fields(body.get("tool_result"))
        content = {"content": text(result.get("text_result_for_llm"))}
        ending = result_of(Data(result=content, success=result.get("result_type") == "success"), has_hook_text=False)
        return {**found, "result": ending.text, "is_error": ending.is_error, "exit_code": ending.exit_code}
    return found


def write(event: HookEvent, answer: HookAnswer) -> bytes | None:
    """The answer, without an envelope; Copilot CLI shows no line to the person."""
    response: Payload = {}
    if event.name in ("session_start", "prompt", "before_tool", "after_tool", "tool_failed") and answer.context:
        response["additionalContext"] = cap_text(answer.context, 9_000)  # its limit is in bytes, for all hooks together
    if event.name == "before_tool" and answer.block:
        response |= {"permissionDecision": "deny", "permissionDecisionReason": cap_text(answer.block)}
    if event.name == "after_tool" and answer.output:
        response["modifiedResult"] = {"textResultForLlm": cap_text(answer.output, 100_000), "resultType": "success"}
    if event.name == "stop" and answer.block and not event.stop_again:
        response = {"decision": "block", "reason": cap_text(answer.block)}
    return encode_answer(response)


# Where the hooks are set up: a file of our own in a folder of hook files.
_INSTALLED = (
    "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "PreCompact", "Stop", "SessionEnd",
)  # fmt: skip
_MATCHERS = {"PreToolUse": "bash|powershell"}
_FILE = "preheat.json"


def entries(client: Client) -> dict[str, list[Payload]]:
    """One hook for each event; `PreToolUse` fires for shell commands only."""
    found: dict[str, list[Payload]] = {}
    for event in _INSTALLED:
        matcher = {"matcher": _MATCHERS[event]} if event in _MATCHERS else {}
        seconds = 10 if event == "SessionStart" else 5
        hook = {"type": "command", "bash": client.safe_command, "powershell": client.powershell, "timeoutSec": seconds}
        found[event] = [{**matcher, **hook}]
    return found


def user_file(environment: Mapping[str, str]) -> str:
    return os.path.join(os.path.dirname(roots(environment)[0]), "hooks", _FILE)


def project_file(project: str) -> str:
    return os.path.join(project, ".github", "hooks", _FILE)


def settings_files(environment: Mapping[str, str], project: str) -> list[str]:
    """Copilot's own files, and Claude Code's settings in the project."""
    return [
        user_file(environment),
        *([project_file(project), *claude_settings_files(environment, project)[1:]] if project else []),
    ]


def hook_status(environment: Mapping[str, str], project: str, path: str, settings: Payload) -> HookStatus:
    if is_true(settings.get("disableAllHooks")):
        return HookStatus("no", f"`disableAllHooks` is set in {path}")
    return HookStatus("yes")


HOOKS = Hooks(
    "copilot",
    read,
    write,
    Moments(
        start="request",
        prompt="request",
        before_call="result",
        after_call="result",
        failure="result",
        person=False,
        resume="lost",
        compaction="next",
    ),
    Setup(
        user_file=user_file,
        project_file=project_file,
        entries=entries,
        extra_settings={"version": 1},
        settings_files=settings_files,
        duplicate_advice="Copilot CLI runs the hooks of a project's `.claude` settings as well; Preheat leaves those calls "
        "unanswered, so "
        "they cost a few milliseconds and no more. `preheat uninstall claude_code --project` takes them out.",
        next_steps=("New sessions have them at once.",),
        status=hook_status,
        tested_version="1.0.102",
    ),
)
