"""`mcp-prompt`: the answer to an MCP prompt request: the block, then the task, as user messages."""

from typing import Any

from preheat.model.rendering import Parts, Rendered, Renderer, Said
from preheat.provisioning.render.plain import said


def _render_mcp_prompt(parts: Parts) -> Rendered:
    texts = (*(Said("user", each.text) for each in said(parts)), *parts.asked)
    many = f"{parts.context.sessions:,} " if parts.context.sessions else ""
    document: dict[str, Any] = {
        "description": parts.context.reason or f"What {many}earlier sessions found out",
        "messages": [{"role": each.role, "content": {"type": "text", "text": each.text}} for each in texts],
    }
    return Rendered(format="mcp-prompt", document=document, said=texts)


MCP_PROMPT = Renderer("mcp-prompt", "the answer to an MCP prompt request", _render_mcp_prompt)
