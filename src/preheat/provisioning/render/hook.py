"""`hook`: the output of a hook at the start of a session, for agents that read `additionalContext`; empty without text."""

from typing import Any

from preheat.model.rendering import RenderedContext, Renderer, RenderParts
from preheat.provisioning.render.plain import system_message


def _render_hook(parts: RenderParts) -> RenderedContext:
    output = {"hookEventName": "SessionStart", "additionalContext": parts.text}
    document: dict[str, Any] = {"hookSpecificOutput": output} if parts.text else {}
    return RenderedContext(format="hook", document=document, messages=system_message(parts))


HOOK = Renderer("hook", "a hook's answer at the start of a session", _render_hook)
