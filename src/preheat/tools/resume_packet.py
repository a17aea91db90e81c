"""`resume_packet`: where the last session of a project ended. Nothing is found out here."""

import time
from typing import Any

import msgspec

from preheat.app.context.model_text import frame_text, make_harmless, map_texts
from preheat.tools.opening import named_project, open_archive
from preheat.tools.tool import Tool, ToolRequest

_RESUME_SCHEMA = {
    "type": "object",
    "properties": {"project": {"type": "string", "description": "Name or folder; default this one."}},
    "additionalProperties": False,
}


def _run_resume_packet(asked: ToolRequest) -> dict[str, Any]:
    found = open_archive(asked).resume_packet(named_project(asked), asked.cwd)
    if found is None or found.packet is None:
        return {
            "text": "",
            "reason": "no session is known that could be resumed",
            "next": "`preheat sync`, then `preheat learn` read new sessions; `session_search` searches older ones",
        }
    if not found.is_usable(time.time()):
        return {
            "text": "",
            "session": found.packet.session,
            "reason": "the last session is too long ago"
            if found.status == "active"
            else f"its packet is {found.status}",
            "next": "start over; `session_search` finds what was done then",
        }
    packet = map_texts(make_harmless, msgspec.to_builtins(found.packet))
    return {"text": frame_text(found.id, found.text), "lesson": found.id, "packet": packet}


RESUME_PACKET = Tool(
    "resume_packet",
    "Where the last session of a project ended: its goal, checks that fail, files changed and not verified, dead ends, the "
    "next command, and how stale that is. Use it when a person wants to go on with earlier work.",
    _RESUME_SCHEMA,
    _run_resume_packet,
)
