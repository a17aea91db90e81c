"""`why`: how every signal of a session came to its value, and what was said for it. Nothing is measured here."""

from typing import Any

import msgspec

from preheat.app.context.model_text import make_harmless, map_texts, quote_or_withhold
from preheat.app.sessions.caller import resolve_session_name
from preheat.tools.opening import data_note, open_archive
from preheat.tools.tool import Tool, ToolRequest

_WHY_SCHEMA = {
    "type": "object",
    "properties": {
        "session": {
            "type": "string",
            "description": "Its id, the beginning of it, or `latest` (default).",
        },
        "turn": {"type": "integer", "minimum": 0, "description": "After which turn; default the last."},
    },
    "additionalProperties": False,
}
_MOST_ADVISORIES = 10


def _run_why(asked: ToolRequest) -> dict[str, Any]:
    name = resolve_session_name(asked.arguments.get("session", "").strip() or "latest")
    found, turn = open_archive(asked).live.replay_turn(name)
    explained = found.explain(asked.arguments.get("turn", turn))
    answer: dict[str, Any] = {"note": data_note()}
    whole = msgspec.to_builtins(explained)
    answer |= {**map_texts(make_harmless, whole), "event": map_texts(quote_or_withhold, whole["event"])}
    advisories = found.timeline.advisories
    answer["sent"] = map_texts(make_harmless, [msgspec.to_builtins(each) for each in advisories[-_MOST_ADVISORIES:]])
    if len(advisories) > _MOST_ADVISORIES:
        answer["left_out"] = (
            f"{len(advisories) - _MOST_ADVISORIES} earlier advisories; `turn` shows the arithmetic at any"
        )
    return answer


WHY = Tool(
    "why",
    "What was seen while a session was watched: phase, focus, loops, unverified changes, drift, trust, each with its "
    "arithmetic, and what advice was given for it. Use it when advice of Preheat is to be explained.",
    _WHY_SCHEMA,
    _run_why,
)
