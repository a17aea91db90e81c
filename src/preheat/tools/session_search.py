"""`session_search`: passages in what was said and run, with where they stand. The index finds them."""

import re
from datetime import UTC, datetime
from typing import Any

from preheat.app.context.model_text import make_harmless_line, quote_or_withhold
from preheat.model.listing import SearchHit
from preheat.tools.fitting import MAX_TOKENS, OFFSET, fit_rows
from preheat.tools.opening import AGENT, DAYS, PROJECT, data_note, make_filter, open_archive
from preheat.tools.tool import Tool, ToolRequest

KINDS = ("human", "assistant", "command")
_SEARCH_SCHEMA = {
    "type": "object",
    "properties": {
        "words": {
            "type": "string",
            "description": 'All must be in one message; "in quotes" as a phrase; a prefix ends in *.',
        },
        "project": PROJECT,
        "agent": AGENT,
        "days": DAYS,
        "kind": {
            "type": "array",
            "items": {"type": "string", "enum": list(KINDS)},
            "description": "Only in messages of people or of the assistant, or in commands.",
        },
        "offset": OFFSET,
        "max_tokens": MAX_TOKENS,
    },
    "required": ["words"],
    "additionalProperties": False,
}
_MOST = 100
"""Passages that are searched for after the offset."""
_LONGEST, _BEFORE = 600, 150


def _run_session_search(asked: ToolRequest) -> dict[str, Any]:
    arguments = asked.arguments
    chosen = make_filter(asked)
    most = arguments.get("offset", 0) + _MOST
    sessions = open_archive(asked).archive
    hits = sessions.search(arguments["words"], chosen, tuple(arguments.get("kind", ())), most)
    terms = sessions.search_terms(arguments["words"])
    answer: dict[str, Any] = {"note": data_note(chosen.project or ""), "project": chosen.project or "all"}
    if not hits:
        elsewhere = "; `project` `all` looks everywhere" if chosen.project else ""
        answer["next"] = f"nothing has all these words: give fewer, or a beginning such as `{terms[0][:5]}*`{elsewhere}"
    answer["found"] = f"{most} or more" if len(hits) == most else len(hits)
    return answer | fit_rows("passages", [_passage(hit, terms) for hit in hits], arguments)


def _passage(hit: SearchHit, terms: list[str]) -> dict[str, Any]:
    session = hit.session
    return {
        "session": session.session,
        "when": _when(session.started_at),
        "agent": session.agent,
        "project": quote_or_withhold(session.project),
        "about": quote_or_withhold(make_harmless_line(session.title or session.opening, 100)),
        "line": hit.line,
        "kind": hit.kind,
        "text": _around(hit.text, terms),
    }


def _when(at: float | None) -> str:
    """When the session began; its passages have no times of their own."""
    try:
        return "" if at is None else datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%MZ")
    except (OverflowError, ValueError, OSError):
        return ""  # a clock that was far off


def _around(text: str, terms: list[str]) -> str:
    """The text, or of a long text the part around the first of the words."""
    found = re.search("|".join(re.escape(term) for term in terms), text, re.IGNORECASE) if terms else None
    start = max(0, found.start() - _BEFORE) if found and len(text) > _LONGEST else 0
    part = text[start : start + _LONGEST]
    return f"{'…' if start else ''}{quote_or_withhold(part)}{'…' if start + _LONGEST < len(text) else ''}"


SESSION_SEARCH = Tool(
    "session_search",
    "Searches what people and agents said in earlier sessions and which commands were run; gives passages with session, time "
    "and project. Use it when a person refers to earlier work, or to see how something was done before.",
    _SEARCH_SCHEMA,
    _run_session_search,
)
