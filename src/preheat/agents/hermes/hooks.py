"""Hermes's hooks: our plugin (`plugin/`) or a shell hook reports what happens in the program, and adds the answers.

Both report in Hermes's own form: the hook's name, and the arguments that Hermes gives it. Knows nothing of sessions on disk nor
of how the plugin works.
"""

from typing import Any

from preheat.agents.hermes import DATABASE
from preheat.agents.hermes.install import INSTALL_WAYS, TESTED_VERSION, settings_file
from preheat.agents.hermes.records import is_review, is_written_by_program
from preheat.agents.hermes.tools import SCRIPT_TOOL, call_in_script, printed_output, result_of, split_advisory
from preheat.agents.hooks import (
    Hooks,
    Moments,
    Payload,
    Setup,
    cap_text,
    decode_payload,
    encode_answer,
    fields,
    is_true,
    number,
    result_text,
    seconds,
    text,
)
from preheat.model.live import HookAnswer, HookEvent, HookName

_EVENTS: dict[str, HookName] = {
    "pre_tool_call": "before_tool", "post_tool_call": "after_tool",
    "transform_tool_result": "after_tool", "pre_verify": "stop", "on_session_end": "stop",
    "on_session_finalize": "session_end", "subagent_start": "subagent_start", "subagent_stop": "subagent_stop",
}  # fmt: skip
_UNWATCHED = ("subagent", "review")
"""The event's `subagent` for a subagent, and for Hermes's own review of a session."""


def read(payload: bytes, at: float | None = None) -> HookEvent | None:
    """Read one event."""
    body = decode_payload(payload)
    if body is None or not text(body.get("session_id")):
        return None
    hook = text(body.get("hook_event_name"))
    extra = fields(body.get("extra"))
    name = _event_name(hook, extra)
    home = text(body.get("home"))
    return HookEvent(
        agent="hermes",
        session=text(body.get("session_id")),
        name=name,
        host_event=hook,
        at=at,
        cwd=text(body.get("cwd")),
        transcript=f"{home}/{DATABASE}" if home else "",
        model=text(extra.get("model")),
        subagent=_why_unwatched(extra),
        **_event_fields(name, body, extra),
    )


def _event_name(hook: str, extra: Payload) -> HookName:
    """The event's name. The first prompt starts the session; a message that Hermes wrote itself is not a prompt."""
    if hook != "pre_llm_call":
        return _EVENTS.get(hook, "other")
    if is_true(extra.get("is_first_turn")):
        return "session_start"
    return "other" if is_written_by_program(_message_text(extra.get("user_message"))) else "prompt"


def _why_unwatched(extra: Payload) -> str:
    """Not empty for a subagent, and for Hermes's own review of a session, which has that session's id."""
    if text(extra.get("platform")) == "subagent":
        return _UNWATCHED[0]
    return _UNWATCHED[1] if is_review(_message_text(extra.get("user_message"))) else ""


def _event_fields(name: HookName, body: Payload, extra: Payload) -> dict[str, Any]:
    if name in ("session_start", "prompt"):
        # A later prompt counts as a resume: the context from the session's start is still there.
        return {
            "prompt": _message_text(extra.get("user_message")),
            "source": "startup" if name == "session_start" else "resume",
        }
    if name == "stop":
        return {"stop_again": bool(number(extra.get("attempt")))}
    if name == "session_end":
        return {"attended": is_true(extra.get("attended"))}
    if name not in ("before_tool", "after_tool"):
        return {}
    tool, arguments = text(body.get("tool_name")), fields(body.get("tool_input"))
    made, arguments = call_in_script(arguments) if tool == SCRIPT_TOOL else (tool, arguments)
    found = {
        "call_id": text(extra.get("tool_call_id")),
        "turn": text(extra.get("api_request_id")),
        "tool": made,
        "arguments": arguments,
    }
    if name == "before_tool":
        return found
    result = split_advisory(result_text(extra.get("result")) or "")[0]
    facts = result_of(result, tool)
    return {
        **found,
        "result": result,
        "printed": printed_output(result, tool),
        "detail": facts.detail,
        "is_error": facts.is_error,
        "exit_code": facts.exit_code,
        "seconds": seconds(extra.get("duration_ms")),
    }


def _message_text(value: Any) -> str:
    """The text of a user message, which is a text or a list of parts."""
    if isinstance(value, list):
        return "\n".join(filter(None, (text(fields(part).get("text")) for part in value)))
    return text(value)


def write(event: HookEvent, answer: HookAnswer) -> bytes | None:
    """The answer: `context`, `action` and `message` in Hermes's own form, the rest for the plugin."""
    response: Payload = {}
    if event.name in ("session_start", "prompt"):
        if answer.context:
            response["context"] = cap_text(answer.context)
        if answer.messages:
            response["messages"] = answer.messages
    elif event.name == "before_tool":
        if answer.block:
            response |= {"action": "block", "message": cap_text(answer.block)}
        elif answer.context:
            response["advisory"] = cap_text(answer.context)
    elif event.name == "after_tool":
        if answer.context:
            response["advisory"] = cap_text(answer.context)
        if answer.output:
            response["output"] = answer.output
    elif event.host_event == "pre_verify":
        if answer.block and not event.stop_again:
            response |= {"action": "continue", "message": cap_text(answer.block)}
    elif event.name == "session_end" and event.attended and answer.person:
        response["person"] = cap_text(answer.person, 1_000)
    return encode_answer(response)


HOOKS = Hooks(
    "hermes",
    read,
    write,
    Moments(
        start="request",
        prompt="request",
        before_call="result",
        after_call="result",
        failure="result",
        person=False,
        resume="kept",
        compaction="kept",
    ),
    Setup(user_file=settings_file, project_file=lambda project: "", ways=INSTALL_WAYS, tested_version=TESTED_VERSION),
    message_format="hermes-prefill",
)
