"""`anthropic`: a system text, and messages of alternating roles whose calls and results are blocks. The task is last."""

from typing import Any

from preheat.model.rendering import RenderedContext, RenderedMessage, Renderer, RenderParts


def _render_anthropic(parts: RenderParts) -> RenderedContext:
    messages = (*parts.messages, *parts.task_messages)
    system = "\n\n".join(each.text for each in messages if each.role == "system")
    document: dict[str, Any] = {"system": system} if system else {}
    document["messages"] = [_anthropic_message(each) for each in messages if each.role != "system"]
    return RenderedContext(format="anthropic", document=document, messages=messages)


def _anthropic_message(said: RenderedMessage) -> dict[str, Any]:
    if said.call is None:
        return {"role": said.role, "content": said.text}
    if said.role == "tool":
        return {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": said.call.id, "content": said.text}],
        }
    block = {"type": "tool_use", "id": said.call.id, "name": said.call.tool, "input": said.call.arguments}
    return {"role": "assistant", "content": [block]}


ANTHROPIC = Renderer("anthropic", "system text and messages with tool blocks", _render_anthropic, uses_messages=True)
