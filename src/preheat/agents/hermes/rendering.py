"""Renders a context for Hermes: as a history for its Python interface, as a prefill file, and as a session to import.

Hermes puts its own system prompt first, and strict models refuse a second one: a system message becomes a user message with an
answer. Knows neither lessons nor the task's text.
"""

from typing import Any

from preheat.model.context import NOTED_REPLY, RenderedContext, RenderedMessage, Renderer, RenderParts

_LONGEST_TITLE = 60


def render_history(parts: RenderParts) -> RenderedContext:
    """Arguments for `AIAgent.run_conversation`."""
    messages = _messages_of(parts)
    document = {
        "user_message": parts.context.task,
        "conversation_history": [_encode_message(each) for each in messages],
    }
    return RenderedContext(format="hermes-history", document=document, messages=(*messages, *parts.task_messages))


def render_prefill(parts: RenderParts) -> RenderedContext:
    """The contents of a `prefill_messages_file`: sent with every request, and never stored."""
    messages = _messages_of(parts)
    return RenderedContext(
        format="hermes-prefill", document=[_encode_message(each) for each in messages], messages=messages
    )


def render_session(parts: RenderParts) -> RenderedContext:
    """A session as Hermes exports and imports them; its id, full title and time are added when it is put into the store."""
    messages = _messages_of(parts)
    task = " ".join(parts.context.task.split())
    short = task if len(task) <= _LONGEST_TITLE else f"{task[: _LONGEST_TITLE - 1].rstrip()}…"
    document = {
        # The source for people typing: for any other one Hermes records no folder, and lists the session apart.
        "source": "cli",
        "title": f"warm: {short}" if short else "warm",
        "messages": [_encode_message(each) for each in messages],
    }
    return RenderedContext(format="hermes-import", document=document if messages else "", messages=messages)


def _messages_of(parts: RenderParts) -> tuple[RenderedMessage, ...]:
    """The messages, each of a user followed by one of the assistant: Hermes joins neighbours of one role."""
    found: list[RenderedMessage] = []
    for each in parts.messages:
        if each.role == "system":
            found += (RenderedMessage("user", each.text), RenderedMessage("assistant", NOTED_REPLY))
        else:
            found.append(each)
    return tuple(found)


def _encode_message(message: RenderedMessage) -> dict[str, Any]:
    if message.call is None:
        return {"role": message.role, "content": message.text}
    if message.role == "tool":
        return {
            "role": "tool",
            "tool_call_id": message.call.id,
            "tool_name": message.call.tool,
            "content": message.text,
        }
    function = {"name": message.call.tool, "arguments": message.call.arguments_json}
    calls = [{"id": message.call.id, "type": "function", "function": function}]
    return {"role": "assistant", "content": message.text, "tool_calls": calls}


RENDERERS = (
    Renderer(
        "hermes-history", "arguments of Hermes's `run_conversation`", render_history, "hermes", uses_messages=True
    ),
    Renderer("hermes-prefill", "a prefill file of Hermes", render_prefill, "hermes", uses_messages=True),
    Renderer(
        "hermes-import",
        "a session of Hermes to go on with; `--print` only shows it",
        render_session,
        "hermes",
        uses_messages=True,
        can_start_session=True,
    ),
)
