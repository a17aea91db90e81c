"""A context as Hermes takes it: a history for its Python interface, its own file of messages to begin with, and a session.

The program puts its system prompt first and would send another one after it, which strict models refuse: so what would be a
system message is a user's here, with an answer. Knows neither lessons nor the task's words.
"""

from typing import Any

from preheat.model.rendering import NOTED, Parts, Rendered, Renderer, Said

_LONGEST_TITLE = 60


def history(parts: Parts) -> Rendered:
    """Arguments of `AIAgent.run_conversation`."""
    said = _said(parts)
    document = {
        "user_message": parts.context.task,
        "conversation_history": [_message(each) for each in said],
    }
    return Rendered(format="hermes-history", document=document, said=(*said, *parts.asked))


def prefill(parts: Parts) -> Rendered:
    """The contents of a `prefill_messages_file`: sent with every request, and never stored."""
    said = _said(parts)
    return Rendered(format="hermes-prefill", document=[_message(each) for each in said], said=said)


def session(parts: Parts) -> Rendered:
    """A session as Hermes exports and imports them; its id, title and moment are given when it is put into the store."""
    said = _said(parts)
    task = " ".join(parts.context.task.split())
    short = task if len(task) <= _LONGEST_TITLE else f"{task[: _LONGEST_TITLE - 1].rstrip()}…"
    document = {
        # Where people type: of any other source the program records no folder, and lists it apart.
        "source": "cli",
        "title": f"warm: {short}" if short else "warm",
        "messages": [_message(each) for each in said],
    }
    return Rendered(format="hermes-import", document=document if said else "", said=said)


def _said(parts: Parts) -> tuple[Said, ...]:
    """Every message of a user is followed by one of the assistant: the program joins neighbours of one role."""
    found: list[Said] = []
    for each in parts.said:
        if each.role == "system":
            found += (Said("user", each.text), Said("assistant", NOTED))
        else:
            found.append(each)
    return tuple(found)


def _message(said: Said) -> dict[str, Any]:
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
