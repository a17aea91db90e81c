"""Copilot CLI's hooks: what they tell, how they are answered, and where they are set up.

Knows nothing of sessions on disk. The events are asked for by the names that begin with a capital: only then does a payload
say which event it is; the tools go by other names in them, which are turned back. Answers are flat all the same.
"""

import os
from collections.abc import Mapping
from typing import Any

from preheat.agents.claude_code.hooks import shared_files
from preheat.agents.copilot.places import EVENTS, roots
from preheat.agents.copilot.records import Data
from preheat.agents.copilot.results import ending_of
from preheat.agents.hooking import (
    Client,
    Hooks,
    Payload,
    Setup,
    State,
    capped,
    decoded,
    encoded,
    fields,
    flag,
    named,
    start,
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
    """One event; tools by the names that they have in the session."""
    told = decoded(payload)
    if told is None:
        return None
    session = text(told.get("session_id")) or text(told.get("sessionId"))
    if not session:
        return None
    name = _EVENTS.get(text(told.get("hook_event_name")), "other")
    if name == "other" and "agentName" in told:
        name = "subagent_start"  # the one event that is told in the other spelling whatever it is asked for by
    more: dict[str, Any] = {
        "session": session,
        "transcript": text(told.get("transcript_path")) or text(told.get("transcriptPath")) or _transcript(session),
        "subagent": text(told.get("agent_id")) or ("subagent" if name.startswith("subagent") else ""),
        **_more(name, told),
    }
    return named(name, told, "copilot", at, **more)


def _transcript(session: str) -> str:
    """Where the program keeps the session: it only tells at the end of a turn."""
    plain = session.replace("-", "").isalnum()
    return os.path.join(roots(os.environ)[0], session, EVENTS) if plain else ""


def _more(name: HookName, told: Payload) -> dict[str, Any]:
    if name == "session_start":
        return {"source": start(told.get("source")), "prompt": text(told.get("initial_prompt"))}
    if name == "prompt":
        return {"prompt": text(told.get("prompt"))}
    if name == "stop":
        return {"stop_again": flag(told.get("stop_hook_active"))}
    if name not in ("before_tool", "after_tool", "tool_failed"):
        return {}
    tool = text(told.get("tool_name"))
    found: dict[str, Any] = {"tool": _TOOLS.get(tool, tool), "arguments": fields(told.get("tool_input"))}
    # Calls have no ids here; the moment tells two alike apart from one that is told twice.
    found["call_id"] = text(told.get("timestamp"))
    if name == "tool_failed":
        return {**found, "result": text(told.get("error")), "is_error": True}
    if name == "after_tool":
        result = fields(told.get("tool_result"))
        said = {"content": text(result.get("text_result_for_llm"))}
        ended = ending_of(Data(result=said, success=result.get("result_type") == "success"), hooked=False)
        return {**found, "result": ended.text, "is_error": ended.is_error, "exit_code": ended.exit_code}
    return found


def write(event: HookEvent, answer: HookAnswer) -> bytes | None:
    """The answer, without the envelope that others want; there is no line for the person."""
    said: Payload = {}
    if event.name in ("session_start", "prompt", "before_tool", "after_tool", "tool_failed") and answer.context:
        said["additionalContext"] = capped(answer.context, 9_000)  # counted in bytes, for all hooks together
    if event.name == "before_tool" and answer.block:
        said |= {"permissionDecision": "deny", "permissionDecisionReason": capped(answer.block)}
    if event.name == "after_tool" and answer.output:
        said["modifiedResult"] = {"textResultForLlm": capped(answer.output, 100_000), "resultType": "success"}
    if event.name == "stop" and answer.block and not event.stop_again:
        said = {"decision": "block", "reason": capped(answer.block)}
    return encoded(said)


# Where they are set up: a file of our own in a folder of such.
_INSTALLED = (
    "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "PreCompact", "Stop", "SessionEnd",
)  # fmt: skip
_MATCHERS = {"PreToolUse": "bash|powershell"}
_FILE = "preheat.json"


def entries(client: Client) -> dict[str, list[Payload]]:
    """One hook for each event; before a call only commands are looked at."""
    found: dict[str, list[Payload]] = {}
    for event in _INSTALLED:
        matcher = {"matcher": _MATCHERS[event]} if event in _MATCHERS else {}
        seconds = 10 if event == "SessionStart" else 5
        hook = {"type": "command", "bash": client.unfailing, "powershell": client.powershell, "timeoutSec": seconds}
        found[event] = [{**matcher, **hook}]
    return found


def user_file(environment: Mapping[str, str]) -> str:
    return os.path.join(os.path.dirname(roots(environment)[0]), "hooks", _FILE)


def project_file(project: str) -> str:
    return os.path.join(project, ".github", "hooks", _FILE)


def obeys(environment: Mapping[str, str], project: str) -> list[str]:
    """Its own, and of Claude Code's settings those in the project."""
    return [
        user_file(environment),
        *([project_file(project), *shared_files(environment, project)[1:]] if project else []),
    ]


def state(environment: Mapping[str, str], project: str, path: str, settings: Payload) -> State:
    if flag(settings.get("disableAllHooks")):
        return State("no", f"`disableAllHooks` is set in {path}")
    return State("yes")


HOOKS = Hooks(
    "copilot",
    read,
    write,
    Setup(
        user_file=user_file,
        project_file=project_file,
        entries=entries,
        beside={"version": 1},
        obeys=obeys,
        double="Copilot CLI runs the hooks of a project's `.claude` settings as well; Preheat leaves those calls unanswered, so "
        "they cost a few milliseconds and no more. `preheat uninstall claude_code --project` takes them out.",
        next_steps=("New sessions have them at once.",),
        state=state,
        tried="1.0.102",
    ),
)
