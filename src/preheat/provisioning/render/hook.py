"""`hook`: the output of a hook at the start of a session, for agents that read `additionalContext`; empty without text."""

from typing import Any

from preheat.model.rendering import Parts, Rendered, Renderer
from preheat.provisioning.render.plain import said


def _render_hook(parts: Parts) -> Rendered:
    output = {"hookEventName": "SessionStart", "additionalContext": parts.text}
    document: dict[str, Any] = {"hookSpecificOutput": output} if parts.text else {}
    return Rendered(format="hook", document=document, said=said(parts))


HOOK = Renderer("hook", "a hook's answer at the start of a session", _render_hook)
