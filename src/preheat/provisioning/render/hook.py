"""`hook`: what a hook prints at the start of a session, for hosts that read `additionalContext`. An empty object says nothing."""

from typing import Any

from preheat.model.rendering import Parts, Rendered, Renderer
from preheat.provisioning.render.plain import said


def render(parts: Parts) -> Rendered:
    output = {"hookEventName": "SessionStart", "additionalContext": parts.text}
    document: dict[str, Any] = {"hookSpecificOutput": output} if parts.text else {}
    return Rendered(format="hook", document=document, said=said(parts))


HOOK = Renderer("hook", "a hook's answer at the start of a session", render)
