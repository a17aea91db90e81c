"""OpenCode's hooks: our plugin reports what happens in the program, in a form of our own, and adds the answers.

Knows nothing of sessions on disk nor of how the plugin does it (`plugins/opencode.js`).
"""

import json
import os
from collections.abc import Mapping
from typing import Any

from preheat.agents.hooks import (
    Client,
    Hooks,
    HookStatus,
    Moments,
    Payload,
    Setup,
    cap_text,
    decode_payload,
    encode_answer,
    fields,
    start_of,
    text,
)
from preheat.agents.opencode.tools import result_of
from preheat.files import read_text
from preheat.model.live import HookAnswer, HookEvent, HookName
from preheat.settings import home_folder

_EVENTS: dict[str, HookName] = {
    "sessionStart": "session_start", "prompt": "prompt", "toolBefore": "before_tool", "toolAfter": "after_tool",
    "toolError": "tool_failed", "compacting": "before_compaction", "idle": "stop", "sessionEnd": "session_end",
}  # fmt: skip
_PLACEHOLDER = '["PREHEAT_COMMAND"]'
_FILE = "preheat.js"


def read(payload: bytes, at: float | None = None) -> HookEvent | None:
    """Read one event."""
    body = decode_payload(payload)
    if body is None or not text(body.get("session")):
        return None
    event = text(body.get("event"))
    name = _EVENTS.get(event, "other")
    return HookEvent(
        agent="opencode",
        session=text(body.get("session")),
        name=name,
        host_event=event,
        at=at,
        cwd=text(body.get("cwd")),
        subagent=text(body.get("parent")),
        **_event_fields(name, body),
    )


def _event_fields(name: HookName, body: Payload) -> dict[str, Any]:
    if name == "session_start":
        return {"source": start_of(body.get("source"))}
    if name == "prompt":
        return {"prompt": text(body.get("text"))}
    if name not in ("before_tool", "after_tool", "tool_failed"):
        return {}
    tool = text(body.get("tool"))
    found = {"call_id": text(body.get("call")), "tool": tool, "arguments": fields(body.get("args"))}
    if name == "before_tool":
        return found
    is_failure = name == "tool_failed"
    state: Payload = {
        "status": "error" if is_failure else "completed",
        "output": text(body.get("output")),
        "error": text(body.get("error")),
        "metadata": fields(body.get("metadata")),
    }
    facts = result_of(tool, state)
    return {
        **found,
        "result": facts.text,
        "is_error": facts.is_error,
        "exit_code": facts.exit_code,
        "interrupted": facts.detail.get("interrupted") is True,
    }


def write(event: HookEvent, answer: HookAnswer) -> bytes | None:
    """The answer, for the plugin. A turn that has ended is not continued."""
    response: Payload = {}
    if event.name not in ("stop", "session_end", "other") and answer.context:
        response["context"] = cap_text(answer.context)
    if event.name == "before_tool" and answer.block:
        response["block"] = cap_text(answer.block)
    if event.name == "after_tool" and answer.output:
        response["output"] = answer.output
    return encode_answer(response)


# Where the plugin is set up.
def plugin_text(client: Client) -> str:
    """The plugin's source, with the command that it calls filled in."""
    folder = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    text = read_text(os.path.join(folder, "plugins", "opencode.js"))
    return text.replace(_PLACEHOLDER, json.dumps(list(client.arguments)))


def user_file(environment: Mapping[str, str]) -> str:
    base = environment.get("XDG_CONFIG_HOME") or os.path.join(home_folder(environment), ".config")
    folder = environment.get("OPENCODE_CONFIG_DIR") or os.path.join(base, "opencode")
    return os.path.join(folder, "plugins", _FILE)


def project_file(project: str) -> str:
    return os.path.join(project, ".opencode", "plugins", _FILE)


def settings_files(environment: Mapping[str, str], project: str) -> list[str]:
    return [user_file(environment), *([project_file(project)] if project else [])]


def hook_status(environment: Mapping[str, str], project: str, path: str, settings: Payload) -> HookStatus:
    return HookStatus("yes")


HOOKS = Hooks(
    "opencode",
    read,
    write,
    Moments(
        start="request",
        prompt="request",
        before_call="result",
        after_call="result",
        failure="later",
        person=False,
        resume="lost",
        compaction="start",
    ),
    Setup(
        user_file=user_file,
        project_file=project_file,
        file_text=plugin_text,
        settings_files=settings_files,
        next_steps=(
            "OpenCode loads plugins when it starts: sessions that are open now do not have it yet. Before it loads its first "
            "plugin it fetches a package of its own, once; without a network that attempt takes about a minute at each start.",
        ),
        status=hook_status,
        tested_version="1.18.33",
    ),
)
