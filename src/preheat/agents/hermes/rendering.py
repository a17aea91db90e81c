"""Renders a context for Hermes: as a history for its Python interface, as a prefill file, and as a session to import.

Hermes puts its own system prompt first, and strict models refuse a second one: a system message becomes a user message with an
answer. Knows neither lessons nor the task's text.
"""

from typing import Any

from preheat.model.rendering import NOTED, Parts, Rendered, Renderer, Said

_LONGEST_TITLE = 60


def history(parts: Parts) -> Rendered:
    """Arguments for `AIAgent.run_conversation`."""
    said = _messages_of(parts)
    document = {
        "user_message": parts.context.task,
        "conversation_history": [_encode_message(each) for each in said],
    }
    return Rendered(format="hermes-history", document=document, said=(*said, *parts.asked))


def prefill(parts: Parts) -> Rendered:
    """The contents of a `prefill_messages_file`: sent with every request, and never stored."""
    said = _messages_of(parts)
    return Rendered(format="hermes-prefill", document=[_encode_message(each) for each in said], said=said)


def session(parts: Parts) -> Rendered:
    """A session as Hermes exports and imports them; its id, full title and time are added when it is put into the store."""
    said = _messages_of(parts)
    task = " ".join(parts.context.task.split())
    short = task if len(task) <= _LONGEST_TITLE else f"{task[: _LONGEST_TITLE - 1].rstrip()}…"
    document = {
        # The source for people typing: for any other one Hermes records no folder, and lists the session apart.
        "source": "cli",
        "title": f"warm: {short}" if short else "warm",
        "messages": [_encode_message(each) for each in said],
    }
    return Rendered(format="hermes-import", document=document if said else "", said=said)


def _messages_of(parts: Parts) -> tuple[Said, ...]:
    """The messages, each of a user followed by one of the assistant: Hermes joins neighbours of one role."""
    found: list[Said] = []
    for each in parts.said:
        if each.role == "system":
            found += (Said("user", each.text), Said("assistant", NOTED))
        else:
            found.append(each)
    return tuple(found)


def _encode_message(said: Said) -> dict[str, Any]:
    if said.call is None:
        return {"role": said.role, "content": said.text}
    if said.role == "tool":
        return {"role": "tool", "tool_call_id": said.call.id, "tool_name": said.call.tool, "content": said.text}
    function = {"name": said.call.tool, "arguments": said.call.encoded}
    calls = [{"id": said.call.id, "type": "function", "function": function}]
    return {"role": "assistant", "content": said.text, "tool_calls": calls}


RENDERERS = (
    Renderer("hermes-history", "arguments of Hermes's `run_conversation`", history, "hermes", messages=True),
    Renderer("hermes-prefill", "a prefill file of Hermes", prefill, "hermes", messages=True),
    Renderer(
        "hermes-import",
        "a session of Hermes to go on with; `--print` only shows it",
        session,
        "hermes",
        messages=True,
        begins=True,
    ),
)
