"""`openai`: chat messages. A system message, the examples as tool calls with their results, and the task last."""

from typing import Any

from preheat.model.rendering import RenderedContext, RenderedMessage, Renderer, RenderParts


def _render_openai(parts: RenderParts) -> RenderedContext:
    messages = (*parts.messages, *parts.task_messages)
    return RenderedContext(format="openai", document=[_openai_message(each) for each in messages], messages=messages)


def _openai_message(said: RenderedMessage) -> dict[str, Any]:
    if said.call is None:
        return {"role": said.role, "content": said.text}
    if said.role == "tool":
        return {"role": "tool", "tool_call_id": said.call.id, "content": said.text}
    function = {"name": said.call.tool, "arguments": said.call.arguments_json}
    return {
        "role": "assistant",
        "content": said.text or None,
        "tool_calls": [{"id": said.call.id, "type": "function", "function": function}],
    }


OPENAI = Renderer("openai", "chat messages with tool calls", _render_openai, uses_messages=True)
