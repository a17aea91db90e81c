"""OpenCode's hooks: a plugin of our own tells what happens in the program, in words of our own, and adds what is answered.

Knows nothing of sessions on disk nor of how the plugin does it (`plugins/opencode.js`).
"""

import json
import os
from collections.abc import Mapping
from typing import Any

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
    start,
    text,
)
from preheat.agents.opencode.results import facts_of
from preheat.model.live import HookAnswer, HookEvent, HookName
from preheat.settings import home

_EVENTS: dict[str, HookName] = {
    "sessionStart": "session_start", "prompt": "prompt", "toolBefore": "before_tool", "toolAfter": "after_tool",
    "toolError": "tool_failed", "compacting": "before_compaction", "idle": "stop", "sessionEnd": "session_end",
}  # fmt: skip
_PLACE = '["PREHEAT_COMMAND"]'
_FILE = "preheat.js"


def read(payload: bytes, at: float | None = None) -> HookEvent | None:
    """One event."""
    told = decoded(payload)
    if told is None or not text(told.get("session")):
        return None
    event = text(told.get("event"))
    name = _EVENTS.get(event, "other")
    return HookEvent(
        agent="opencode",
        session=text(told.get("session")),
        name=name,
        told_as=event,
        at=at,
        cwd=text(told.get("cwd")),
        subagent=text(told.get("parent")),
        **_more(name, told),
    )


def _more(name: HookName, told: Payload) -> dict[str, Any]:
    if name == "session_start":
        return {"source": start(told.get("source"))}
    if name == "prompt":
        return {"prompt": text(told.get("text"))}
    if name not in ("before_tool", "after_tool", "tool_failed"):
        return {}
    tool = text(told.get("tool"))
    found = {"call_id": text(told.get("call")), "tool": tool, "arguments": fields(told.get("args"))}
    if name == "before_tool":
        return found
    failed = name == "tool_failed"
    state: Payload = {
        "status": "error" if failed else "completed",
        "output": text(told.get("output")),
        "error": text(told.get("error")),
        "metadata": fields(told.get("metadata")),
    }
    facts = facts_of(tool, state)
    return {
        **found,
        "result": facts.text,
        "is_error": facts.is_error,
        "exit_code": facts.exit_code,
        "interrupted": facts.detail.get("interrupted") is True,
    }


def write(event: HookEvent, answer: HookAnswer) -> bytes | None:
    """The answer, for the plugin. A turn that has ended is not held up."""
    said: Payload = {}
    if event.name not in ("stop", "session_end", "other") and answer.context:
        said["context"] = capped(answer.context)
    if event.name == "before_tool" and answer.block:
        said["block"] = capped(answer.block)
    if event.name == "after_tool" and answer.output:
        said["output"] = answer.output
    return encoded(said)


# Where it is set up.
def plugin(client: Client) -> str:
    """The plugin's text, with the command that it calls."""
    folder = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    with open(os.path.join(folder, "plugins", "opencode.js"), encoding="utf-8") as stream:
        return stream.read().replace(_PLACE, json.dumps(list(client.arguments)))


def user_file(environment: Mapping[str, str]) -> str:
    base = environment.get("XDG_CONFIG_HOME") or os.path.join(home(environment), ".config")
    folder = environment.get("OPENCODE_CONFIG_DIR") or os.path.join(base, "opencode")
    return os.path.join(folder, "plugins", _FILE)


def project_file(project: str) -> str:
    return os.path.join(project, ".opencode", "plugins", _FILE)


def obeys(environment: Mapping[str, str], project: str) -> list[str]:
    return [user_file(environment), *([project_file(project)] if project else [])]


def state(environment: Mapping[str, str], project: str, path: str, settings: Payload) -> State:
    return State("yes")


HOOKS = Hooks(
    "opencode",
    read,
    write,
    Setup(
        user_file=user_file,
        project_file=project_file,
        whole=plugin,
        obeys=obeys,
        next_steps=(
            "OpenCode loads plugins when it starts: sessions that are open now do not have it yet. Before it loads its first "
            "plugin it fetches a package of its own, once; without a network that attempt takes about a minute at each start.",
        ),
        state=state,
        tried="1.18.33",
    ),
)
