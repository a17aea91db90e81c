"""`text`: the block by itself."""

from preheat.model.rendering import Parts, Rendered, Renderer, Said


def _render_text(parts: Parts) -> Rendered:
    return Rendered(format="text", document=parts.text, said=said(parts))


def said(parts: Parts) -> tuple[Said, ...]:
    """The one message of a format that is a single text."""
    return (Said("system", parts.text),) if parts.text else ()


TEXT = Renderer("text", "the block by itself", _render_text)
