"""Hermes's hooks: a plugin of our own (`plugin/`) or a shell hook tells what happens in the program, and adds what is answered.

Both tell it in the program's own words: the hook's name, and what the program gives it. Knows nothing of sessions on disk nor of
how the plugin does it.
"""

from typing import Any

from preheat.agents.hermes.installing import SEVERAL, TRIED, settings
from preheat.agents.hermes.places import DATABASE
from preheat.agents.hermes.results import facts_of, parted, printed_in
from preheat.agents.hermes.session import reviews
from preheat.agents.hermes.texts import written_by_program
from preheat.agents.hooking import (
    Hooks,
    Payload,
    Setup,
    capped,
    decoded,
    encoded,
    fields,
    flag,
    joined,
    number,
    seconds,
    text,
)
from preheat.model.live import HookAnswer, HookEvent, HookName

_EVENTS: dict[str, HookName] = {
    "pre_tool_call": "before_tool", "post_tool_call": "after_tool",
    "transform_tool_result": "after_tool", "pre_verify": "stop", "on_session_end": "stop",
    "on_session_finalize": "session_end", "subagent_start": "subagent_start", "subagent_stop": "subagent_stop",
}  # fmt: skip
_ALONE = ("subagent", "review")
"""What is written in the place of a subagent's name for one, and for the program's own look back at a session."""


def read(payload: bytes, at: float | None = None) -> HookEvent | None:
    """One event."""
    told = decoded(payload)
    if told is None or not text(told.get("session_id")):
        return None
    hook = text(told.get("hook_event_name"))
    more = fields(told.get("extra"))
    name = _name(hook, more)
    home = text(told.get("home"))
    return HookEvent(
        agent="hermes",
        session=text(told.get("session_id")),
        name=name,
        told_as=hook,
        at=at,
        cwd=text(told.get("cwd")),
        transcript=f"{home}/{DATABASE}" if home else "",
        model=text(more.get("model")),
        subagent=_left_alone(more),
        **_more(name, told, more),
    )


def _name(hook: str, more: Payload) -> HookName:
    """The first prompt is the start of a session, with the task known; what the program itself says is no prompt."""
    if hook != "pre_llm_call":
        return _EVENTS.get(hook, "other")
    if flag(more.get("is_first_turn")):
        return "session_start"
    return "other" if written_by_program(_said(more.get("user_message"))) else "prompt"


def _left_alone(more: Payload) -> str:
    """Not empty for a subagent, and for the program's own look back at a session, which bears that session's id."""
    if text(more.get("platform")) == "subagent":
        return _ALONE[0]
    return _ALONE[1] if reviews(_said(more.get("user_message"))) else ""


def _more(name: HookName, told: Payload, more: Payload) -> dict[str, Any]:
    if name in ("session_start", "prompt"):
        # A session that goes on is given nothing: what it was given at its start is still there.
        return {"prompt": _said(more.get("user_message")), "source": "startup" if name == "session_start" else "resume"}
    if name == "stop":
        return {"stop_again": bool(number(more.get("attempt")))}
    if name == "session_end":
        return {"attended": flag(more.get("attended"))}
    if name not in ("before_tool", "after_tool"):
        return {}
    tool = text(told.get("tool_name"))
    found = {
        "call_id": text(more.get("tool_call_id")),
        "turn": text(more.get("api_request_id")),
        "tool": tool,
        "arguments": fields(told.get("tool_input")),
    }
    if name == "before_tool":
        return found
    result = parted(joined(more.get("result")) or "")[0]
    facts = facts_of(result, tool)
    return {
        **found,
        "result": result,
        "printed": printed_in(result, tool),
        "detail": facts.detail,
        "is_error": facts.is_error,
        "exit_code": facts.exit_code,
        "seconds": seconds(more.get("duration_ms")),
    }


def _said(value: Any) -> str:
    """What a person said: a text, or parts of which some are texts."""
    if isinstance(value, list):
        return "\n".join(filter(None, (text(fields(part).get("text")) for part in value)))
    return text(value)


def write(event: HookEvent, answer: HookAnswer) -> bytes | None:
    """The answer: `context`, `action` and `message` as the program takes them, the rest for the plugin."""
    said: Payload = {}
    if event.name in ("session_start", "prompt"):
        if answer.context:
            said["context"] = capped(answer.context)
        if answer.messages:
            said["messages"] = answer.messages
    elif event.name == "before_tool":
        if answer.block:
            said |= {"action": "block", "message": capped(answer.block)}
        elif answer.context:
            said["advisory"] = capped(answer.context)
    elif event.name == "after_tool":
        if answer.context:
            said["advisory"] = capped(answer.context)
        if answer.output:
            said["output"] = answer.output
    elif event.told_as == "pre_verify":
        if answer.block and not event.stop_again:
            said |= {"action": "continue", "message": capped(answer.block)}
    elif event.name == "session_end" and event.attended and answer.person:
        said["person"] = capped(answer.person, 1_000)
    return encoded(said)


HOOKS = Hooks(
    "hermes",
    read,
    write,
    Setup(user_file=settings, project_file=lambda project: "", several=SEVERAL, tried=TRIED),
    seeds="hermes-prefill",
)
