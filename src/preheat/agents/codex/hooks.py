"""Codex's hooks: what they tell, how they are answered, where they are set up, and whether the person trusts them.

They tell no exit code: that is looked up in the rollout. Knows nothing else of sessions on disk.
"""

import hashlib
import os
import tomllib
from collections.abc import Mapping
from typing import Any

import msgspec

from preheat.agents.codex.endings import exit_code
from preheat.agents.codex.places import roots
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
    joined,
    named,
    ours,
    specific,
    start,
    text,
)
from preheat.model.live import HookAnswer, HookEvent, HookName

_EVENTS: dict[str, HookName] = {
    "SessionStart": "session_start", "UserPromptSubmit": "prompt", "PreToolUse": "before_tool", "PostToolUse": "after_tool",
    "PreCompact": "before_compaction", "PostCompact": "after_compaction", "Stop": "stop", "SubagentStart": "subagent_start",
    "SubagentStop": "subagent_stop", "SessionEnd": "session_end",
}  # fmt: skip
_SHELL, _COMMAND, _PATCH = "Bash", "exec_command", "apply_patch"


def read(payload: bytes, at: float | None = None) -> HookEvent | None:
    """One event; calls by the names and arguments that they have in the rollout."""
    told = decoded(payload)
    if told is None or not text(told.get("session_id")):
        return None
    name = _EVENTS.get(text(told.get("hook_event_name")), "other")
    return named(name, told, "codex", at, **_more(name, told))


def _more(name: HookName, told: Payload) -> dict[str, Any]:
    if name == "session_start":
        return {"source": start(told.get("source"))}
    if name == "prompt":
        return {"prompt": text(told.get("prompt"))}
    if name == "stop":
        return {"stop_again": flag(told.get("stop_hook_active"))}
    if name in ("subagent_start", "subagent_stop"):
        return {"subagent": text(told.get("agent_id")) or "subagent"}
    if name not in ("before_tool", "after_tool"):
        return {}
    tool, given = text(told.get("tool_name")), fields(told.get("tool_input"))
    command = given.get("command")
    if tool == _SHELL and isinstance(command, str):
        tool, given = _COMMAND, {**{key: given[key] for key in given if key != "command"}, "cmd": command}
    elif tool == _PATCH and isinstance(command, str):
        given = {"text": command}
    found: dict[str, Any] = {"call_id": text(told.get("tool_use_id")), "tool": tool, "arguments": given}
    if name == "after_tool":
        found["result"] = joined(told.get("tool_response"))
        if tool == _COMMAND:
            found["exit_code"] = exit_code(text(told.get("transcript_path")), found["call_id"])
    return found


def write(event: HookEvent, answer: HookAnswer) -> bytes | None:
    """The answer: any key that the program does not know would cost all of it."""
    said = specific(event, answer)
    if not answer.output or event.name != "after_tool":
        return said
    whole: Payload = msgspec.json.decode(said) if said else {}
    # Ends nothing but the hook: the reason stands in the place of the tool's output.
    return encoded({**whole, "continue": False, "reason": capped(answer.output, 100_000)})


# Where they are set up.
_TIMES = {"SessionStart": 10, "SessionEnd": 3}
_INSTALLED = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PreCompact", "Stop", "SessionEnd")


def entries(client: Client) -> dict[str, list[Payload]]:
    """One group for each event; before a call only commands are looked at."""
    found: dict[str, list[Payload]] = {}
    for event in _INSTALLED:
        hook = {"type": "command", "command": client.command, "timeout": _TIMES.get(event, 5)}
        found[event] = [{"matcher": f"^{_SHELL}$", "hooks": [hook]} if event == "PreToolUse" else {"hooks": [hook]}]
    return found


def _base(environment: Mapping[str, str]) -> str:
    return os.path.dirname(roots(environment)[0])


def user_file(environment: Mapping[str, str]) -> str:
    return os.path.join(_base(environment), "hooks.json")


def project_file(project: str) -> str:
    return os.path.join(project, ".codex", "hooks.json")


def obeys(environment: Mapping[str, str], project: str) -> list[str]:
    return [user_file(environment), *([project_file(project)] if project else [])]


# Whether the person trusts them: the program keeps a hash of each hook that was, by its place in the file.
_LABELS = {
    "SessionStart": "session_start", "UserPromptSubmit": "user_prompt_submit", "PreToolUse": "pre_tool_use",
    "PostToolUse": "post_tool_use", "PreCompact": "pre_compact", "Stop": "stop", "SessionEnd": "session_end",
}  # fmt: skip
_MATCHED = ("PreToolUse", "PostToolUse", "SessionStart", "PreCompact")
_REVIEW = "open `/hooks` in Codex and trust them"


def trust_key(path: str, event: str, group: int, hook: int) -> str:
    """The name under which the program keeps what it knows of one hook."""
    return f"{path}:{_LABELS[event]}:{group}:{hook}"


def trust_hash(event: str, matcher: str | None, hook: Payload) -> str:
    """The hash of one hook of a group, as the program takes it."""
    normal: Payload = {"async": flag(hook.get("async")), **hook}
    group: Payload = {"event_name": _LABELS[event], "hooks": [normal]}
    if matcher is not None and event in _MATCHED:
        group["matcher"] = matcher
    canonical = msgspec.json.encode(group, order="sorted")
    return f"sha256:{hashlib.sha256(canonical).hexdigest()}"


def state(environment: Mapping[str, str], project: str, path: str, settings: Payload) -> State:
    """Whether every one of ours is trusted as it stands."""
    try:
        with open(os.path.join(_base(environment), "config.toml"), "rb") as stream:
            configuration = tomllib.load(stream)
    except FileNotFoundError:
        configuration = {}
    except (OSError, ValueError):
        return State("unknown", "Codex's `config.toml` cannot be read")
    if fields(configuration.get("features")).get("hooks") is False:
        return State("no", "`hooks` is off under `[features]` in Codex's `config.toml`")
    known = fields(fields(configuration.get("hooks")).get("state"))
    missing, changed, off = 0, 0, 0
    for event, group, at, each, hook in _ours(settings):
        entry = fields(known.get(trust_key(path, event, group, at)))
        trusted = entry.get("trusted_hash")
        off += entry.get("enabled") is False
        missing += trusted is None
        changed += trusted is not None and trusted != trust_hash(event, each, hook)
    if off:
        return State("no", "they are turned off in Codex; `/hooks` turns them on")
    if missing:
        return State("no", f"not trusted yet: Codex skips them without a word; {_REVIEW}")
    if changed:
        return State("no", f"changed since they were trusted: Codex skips them without a word; {_REVIEW}")
    return State("yes", "trusted")


def _ours(settings: Payload) -> list[tuple[str, int, int, str | None, Payload]]:
    found = []
    for event, groups in fields(settings.get("hooks")).items():
        for index, group in enumerate(groups if isinstance(groups, list) else ()):
            hooks = fields(group).get("hooks")
            for at, hook in enumerate(hooks if isinstance(hooks, list) else ()):
                if event in _LABELS and ours(hook):
                    matcher = fields(group).get("matcher")
                    found.append((event, index, at, matcher if isinstance(matcher, str) else None, fields(hook)))
    return found


HOOKS = Hooks(
    "codex",
    read,
    write,
    Setup(
        user_file=user_file,
        project_file=project_file,
        entries=entries,
        obeys=obeys,
        next_steps=(
            "Codex runs no hook that you have not trusted, and says nothing about it: start `codex`, open `/hooks`, look at "
            "Preheat's and trust them. After every change of this file it asks for that again.",
        ),
        state=state,
        tried="0.166.0",
    ),
)
