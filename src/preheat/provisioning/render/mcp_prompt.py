"""`mcp-prompt`: the answer to an MCP prompt request: the block, then the task, as user messages."""

from typing import Any

from preheat.model.rendering import RenderedContext, RenderedMessage, Renderer, RenderParts
from preheat.provisioning.render.plain import system_message


def _render_mcp_prompt(parts: RenderParts) -> RenderedContext:
    texts = (*(RenderedMessage("user", each.text) for each in system_message(parts)), *parts.task_messages)
    many = f"{parts.context.sessions:,} " if parts.context.sessions else ""
    document: dict[str, Any] = {
        "description": parts.context.reason or f"What {many}earlier sessions found out",
        "messages": [{"role": each.role, "content": {"type": "text", "text": each.text}} for each in texts],
    }
    return RenderedContext(format="mcp-prompt", document=document, messages=texts)


MCP_PROMPT = Renderer("mcp-prompt", "the answer to an MCP prompt request", _render_mcp_prompt)
