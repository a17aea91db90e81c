"""`resume_packet`: where the last session of a project ended. Nothing is found out here."""

import time
from typing import Any

import msgspec

from preheat.app.context.model_text import frame_text, harmless, in_value
from preheat.tools.opening import archived, project_of
from preheat.tools.tool import Asked, Tool

_RESUME_SCHEMA = {
    "type": "object",
    "properties": {"project": {"type": "string", "description": "Name or folder; default this one."}},
    "additionalProperties": False,
}


def _run_resume_packet(asked: Asked) -> dict[str, Any]:
    found = archived(asked).resume_packet(project_of(asked), asked.cwd)
    if found is None or found.packet is None:
        return {
            "text": "",
            "reason": "no session is known that could be resumed",
            "next": "`preheat sync`, then `preheat learn` read new sessions; `session_search` searches older ones",
        }
    if not found.usable(time.time()):
        return {
            "text": "",
            "session": found.packet.session,
            "reason": "the last session is too long ago"
            if found.status == "active"
            else f"its packet is {found.status}",
            "next": "start over; `session_search` finds what was done then",
        }
    packet = in_value(harmless, msgspec.to_builtins(found.packet))
    return {"text": frame_text(found.id, found.text), "lesson": found.id, "packet": packet}


RESUME_PACKET = Tool(
    "resume_packet",
    "Where the last session of a project ended: its goal, checks that fail, files changed and not verified, dead ends, the "
    "next command, and how stale that is. Use it when a person wants to go on with earlier work.",
    _RESUME_SCHEMA,
    _run_resume_packet,
)
