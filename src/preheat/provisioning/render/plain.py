"""`text`: the block by itself, for whatever takes a text."""

from preheat.model.rendering import Parts, Rendered, Renderer, Said


def render(parts: Parts) -> Rendered:
    return Rendered(format="text", document=parts.text, said=said(parts))


def said(parts: Parts) -> tuple[Said, ...]:
    """What a model reads of any form that is one text."""
    return (Said("system", parts.text),) if parts.text else ()


TEXT = Renderer("text", "the block by itself", render)
