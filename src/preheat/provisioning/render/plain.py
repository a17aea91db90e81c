"""`text`: the block by itself."""

from preheat.model.rendering import RenderedContext, RenderedMessage, Renderer, RenderParts


def _render_text(parts: RenderParts) -> RenderedContext:
    return RenderedContext(format="text", document=parts.text, messages=system_message(parts))


def system_message(parts: RenderParts) -> tuple[RenderedMessage, ...]:
    """The one message of a format that is a single text."""
    return (RenderedMessage("system", parts.text),) if parts.text else ()


TEXT = Renderer("text", "the block by itself", _render_text)
