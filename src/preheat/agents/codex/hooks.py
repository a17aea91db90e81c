"""Codex's hooks: how events are read and answered, where hooks are set up, and whether the person trusts them.

Hook events carry no exit code: it is looked up at the end of the rollout. In code mode, events are about the calls inside a
script, under ids of their own; there is none about the script itself. Knows nothing else of sessions on disk.
"""

import hashlib
import os
import stat
import tomllib
from collections.abc import Mapping
from typing import Any

import msgspec

from preheat.agents.codex import SCRIPTED_PREFIX, roots
from preheat.agents.hooks import (
    Client,
    Hooks,
    HookStatus,
    Moments,
    Payload,
    Setup,
    agent_of_hook,
    cap_text,
    common_answer,
    common_event,
    decode_payload,
    encode_answer,
    fields,
    is_true,
    number,
    result_text,
    start_of,
    text,
)
from preheat.files import open_file, read_text
from preheat.model.live import HookAnswer, HookEvent, HookName

_EVENTS: dict[str, HookName] = {
    "SessionStart": "session_start", "UserPromptSubmit": "prompt", "PreToolUse": "before_tool", "PostToolUse": "after_tool",
    "PreCompact": "before_compaction", "PostCompact": "after_compaction", "Stop": "stop", "SubagentStart": "subagent_start",
    "SubagentStop": "subagent_stop", "SessionEnd": "session_end",
}  # fmt: skip
_SHELL, _COMMAND, _PATCH = "Bash", "exec_command", "apply_patch"


def read(payload: bytes, at: float | None = None) -> HookEvent | None:
    """Read one event; calls get the names and arguments that they have in the rollout."""
    body = decode_payload(payload)
    if body is None or not text(body.get("session_id")):
        return None
    name = _EVENTS.get(text(body.get("hook_event_name")), "other")
    return common_event(name, body, "codex", at, **_event_fields(name, body))


def _event_fields(name: HookName, body: Payload) -> dict[str, Any]:
    if name == "session_start":
        return {"source": start_of(body.get("source"))}
    if name == "prompt":
        return {"prompt": text(body.get("prompt"))}
    if name == "stop":
        return {"stop_again": is_true(body.get("stop_hook_active"))}
    if name in ("subagent_start", "subagent_stop"):
        return {"subagent": text(body.get("agent_id")) or "subagent"}
    if name not in ("before_tool", "after_tool"):
        return {}
    tool, call_input = text(body.get("tool_name")), fields(body.get("tool_input"))
    command = call_input.get("command")
    if tool == _SHELL and isinstance(command, str):
        tool = _COMMAND
        call_input = {**{key: call_input[key] for key in call_input if key != "command"}, "cmd": command}
    elif tool == _PATCH and isinstance(command, str):
        call_input = {"text": command}
    found: dict[str, Any] = {"call_id": text(body.get("tool_use_id")), "tool": tool, "arguments": call_input}
    if name == "after_tool":
        found["result"] = result_text(body.get("tool_response"))
        if tool == _COMMAND:
            found["exit_code"] = find_exit_code(text(body.get("transcript_path")), found["call_id"])
    return found


def write(event: HookEvent, answer: HookAnswer) -> bytes | None:
    """The answer. Codex drops a whole answer that has an unknown key; a script goes on with the tool's own output."""
    response = common_answer(event, answer)
    if not answer.output or event.name != "after_tool" or event.call_id.startswith(SCRIPTED_PREFIX):
        return response
    merged: Payload = msgspec.json.decode(response) if response else {}
    # `continue` ends only the hook: the reason replaces the tool's output.
    return encode_answer({**merged, "continue": False, "reason": cap_text(answer.output, 100_000)})


# A command's exit code, looked up at the end of a rollout.
_TAIL_BYTES = 262_144


def find_exit_code(path: str, call_id: str) -> int | None:
    """The exit code of a call that has just ended; None if the rollout does not have it (yet)."""
    if not call_id or not _is_rollout(path):
        return None
    try:
        with open_file(path) as stream:
            stream.seek(max(0, stream.size - _TAIL_BYTES))
            tail = stream.read(_TAIL_BYTES)
    except OSError:
        return None
    name = b'"' + call_id.encode("utf-8", "replace") + b'"'
    end = len(tail)
    while (at := tail.rfind(name, 0, end)) >= 0:
        begin = tail.rfind(b"\n", 0, at) + 1
        code = _exit_code_in(tail[begin : tail.find(b"\n", at) if b"\n" in tail[at:] else len(tail)], call_id)
        if code is not None:
            return code
        end = begin
    return None


def _exit_code_in(line: bytes, call_id: str) -> int | None:
    payload = fields((decode_payload(line) or {}).get("payload"))
    item = fields(payload.get("item"))
    if item.get("id") == call_id and item.get("type") == "CommandExecution":
        return number(item.get("exit_code"))
    if payload.get("type") == "exec_command_end" and payload.get("call_id") == call_id:
        return number(payload.get("exit_code"))
    return None


def _is_rollout(path: str) -> bool:
    """Whether a path is a plain file named like a rollout: a payload may name anything, and reading a pipe would block."""
    name = os.path.basename(path)
    if not (name.startswith("rollout-") and name.endswith(".jsonl")) or "\0" in path:
        return False
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False


# Where the hooks are set up.
_TIMEOUTS = {"SessionStart": 10, "SessionEnd": 3}
_INSTALLED = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PreCompact", "Stop", "SessionEnd")


def entries(client: Client) -> dict[str, list[Payload]]:
    """One group for each event; `PreToolUse` fires for shell commands only."""
    found: dict[str, list[Payload]] = {}
    for event in _INSTALLED:
        hook = {"type": "command", "command": client.command, "timeout": _TIMEOUTS.get(event, 5)}
        found[event] = [{"matcher": f"^{_SHELL}$", "hooks": [hook]} if event == "PreToolUse" else {"hooks": [hook]}]
    return found


def _codex_home(environment: Mapping[str, str]) -> str:
    return os.path.dirname(roots(environment)[0])


def user_file(environment: Mapping[str, str]) -> str:
    return os.path.join(_codex_home(environment), "hooks.json")


def project_file(project: str) -> str:
    return os.path.join(project, ".codex", "hooks.json")


def settings_files(environment: Mapping[str, str], project: str) -> list[str]:
    return [user_file(environment), *([project_file(project)] if project else [])]


# Whether the person trusts the hooks: Codex keeps a hash of each trusted hook, by its place in the file.
_EVENT_LABELS = {
    "SessionStart": "session_start", "UserPromptSubmit": "user_prompt_submit", "PreToolUse": "pre_tool_use",
    "PostToolUse": "post_tool_use", "PreCompact": "pre_compact", "Stop": "stop", "SessionEnd": "session_end",
}  # fmt: skip
_EVENTS_WITH_MATCHER = ("PreToolUse", "PostToolUse", "SessionStart", "PreCompact")
_REVIEW = "open `/hooks` in Codex and trust them"


def trust_key(path: str, event: str, group: int, hook: int) -> str:
    """The key under which Codex stores the trust of one hook."""
    return f"{path}:{_EVENT_LABELS[event]}:{group}:{hook}"


def trust_hash(event: str, matcher: str | None, hook: Payload) -> str:
    """The hash of one hook of a group, computed as Codex does."""
    normal: Payload = {"async": is_true(hook.get("async")), **hook}
    group: Payload = {"event_name": _EVENT_LABELS[event], "hooks": [normal]}
    if matcher is not None and event in _EVENTS_WITH_MATCHER:
        group["matcher"] = matcher
    canonical = msgspec.json.encode(group, order="sorted")
    return f"sha256:{hashlib.sha256(canonical).hexdigest()}"


def hook_status(environment: Mapping[str, str], project: str, path: str, settings: Payload) -> HookStatus:
    """Whether every Preheat hook is trusted in its current form."""
    try:
        configuration = tomllib.loads(read_text(os.path.join(_codex_home(environment), "config.toml")))
    except FileNotFoundError:
        configuration = {}
    except (OSError, ValueError, RecursionError):
        return HookStatus("unknown", "Codex's `config.toml` cannot be read")
    if fields(configuration.get("features")).get("hooks") is False:
        return HookStatus("no", "`hooks` is off under `[features]` in Codex's `config.toml`")
    known = fields(fields(configuration.get("hooks")).get("state"))
    missing, changed, off = 0, 0, 0
    for event, group, at, each, hook in _own_hooks(settings):
        entry = fields(known.get(trust_key(path, event, group, at)))
        trusted = entry.get("trusted_hash")
        off += entry.get("enabled") is False
        missing += trusted is None
        changed += trusted is not None and trusted != trust_hash(event, each, hook)
    if off:
        return HookStatus("no", "they are turned off in Codex; `/hooks` turns them on")
    if missing:
        return HookStatus("no", f"not trusted yet: Codex skips them without a word; {_REVIEW}")
    if changed:
        return HookStatus("no", f"changed since they were trusted: Codex skips them without a word; {_REVIEW}")
    return HookStatus("yes", "trusted")


def _own_hooks(settings: Payload) -> list[tuple[str, int, int, str | None, Payload]]:
    found = []
    for event, groups in fields(settings.get("hooks")).items():
        for index, group in enumerate(groups if isinstance(groups, list) else ()):
            hooks = fields(group).get("hooks")
            for at, hook in enumerate(hooks if isinstance(hooks, list) else ()):
                if event in _EVENT_LABELS and agent_of_hook(hook):
                    matcher = fields(group).get("matcher")
                    found.append((event, index, at, matcher if isinstance(matcher, str) else None, fields(hook)))
    return found


HOOKS = Hooks(
    "codex",
    read,
    write,
    Moments(
        start="request",
        prompt="request",
        before_call="result",
        after_call="result",
        failure="unreported",
        person=True,
        resume="kept",
        compaction="start",
    ),
    Setup(
        user_file=user_file,
        project_file=project_file,
        entries=entries,
        settings_files=settings_files,
        next_steps=(
            "Codex runs no hook that you have not trusted, and says nothing about it: start `codex`, open `/hooks`, look at "
            "Preheat's and trust them. After every change of this file it asks for that again.",
        ),
        status=hook_status,
        tested_version="0.166.0",
    ),
)
