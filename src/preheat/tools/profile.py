"""`profile`: how reliable an agent was, in one session or over many. Nothing is measured here."""

import os
import sys
from typing import Any

import msgspec

from preheat.app.context.model_text import map_texts, quote_or_withhold
from preheat.app.sessions.caller import resolve_session_name
from preheat.tools.fitting import MAX_TOKENS, count_tokens
from preheat.tools.opening import AGENT, DAYS, PROJECT, data_note, make_filter, open_analysed_archive, open_archive
from preheat.tools.tool import MOST_TOKENS, Tool, ToolRequest

PARTS = ("tools", "activities", "agents", "models", "projects", "even", "windows", "tenths", "marathon", "by_agent")
_ALWAYS = ("sessions", "calls", "bookkeeping_calls", "statuses", "causes", "overall", "too_little")
_PROFILE_SCHEMA = {
    "type": "object",
    "properties": {
        "session": {"type": "string", "description": "Its id, the beginning of it, or `latest`; default all."},
        "project": PROJECT,
        "agent": AGENT,
        "days": DAYS,
        "parts": {
            "type": "array",
            "items": {"type": "string", "enum": list(PARTS)},
            "description": "Of many sessions: which breakdowns to give; default tools.",
        },
        "max_tokens": MAX_TOKENS,
    },
    "additionalProperties": False,
}


def run_profile(asked: ToolRequest) -> dict[str, Any]:
    session = asked.arguments.get("session", "").strip()
    return _profile_session(asked, session) if session else _profile_sessions(asked)


def _profile_session(asked: ToolRequest, name: str) -> dict[str, Any]:
    measured = open_archive(asked).profile(resolve_session_name(name))
    return {"note": data_note(), **map_texts(quote_or_withhold, msgspec.to_builtins(measured))}


def _profile_sessions(asked: ToolRequest) -> dict[str, Any]:
    if "numpy" not in sys.modules:  # the matrices are small: threads would only wait for each other
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    arguments = asked.arguments
    chosen = make_filter(asked)
    opened = open_analysed_archive(asked)
    measured = opened.home.reliability.without_analysing().population(chosen)
    whole: dict[str, Any] = map_texts(quote_or_withhold, msgspec.to_builtins(measured))
    answer: dict[str, Any] = {"note": data_note(chosen.project or ""), "project": chosen.project or "all"}
    answer |= opened.waiting_note | {name: whole[name] for name in _ALWAYS}
    answer["conclusion"] = whole["marathon"]["conclusion"]
    if not measured.sessions:
        answer["next"] = (
            "no session matches: use fewer filters, `project` `all` searches everywhere; or run `preheat sync`"
        )
        return answer
    wanted = list(dict.fromkeys(arguments.get("parts") or ("tools",)))
    room = arguments.get("max_tokens", MOST_TOKENS) - count_tokens(answer) - 100
    short: list[str] = []
    for name in wanted:
        part, cut = _fit_part(whole[name], room)
        room -= count_tokens(part)
        answer[name] = part
        if cut:
            short.append(name)
    if short:
        answer["left_out"] = f"the ends of {', '.join(short)}; `max_tokens` gives more"
    answer["more"] = f"`parts` also gives {', '.join(name for name in PARTS if name not in wanted) or 'nothing else'}"
    return answer


def _fit_part(part: Any, room: int) -> tuple[Any, bool]:
    """As much of a part as there is room for, most important rows first, and whether it was cut."""
    if count_tokens(part) <= room:
        return part, False
    if isinstance(part, list):
        kept: list[Any] = []
        for row in part:
            room -= count_tokens(row)
            if room < 0:
                break
            kept.append(row)
        return kept, True
    if "cells" in part:
        cells, _ = _fit_part(part["cells"], room)
        return {**part, "cells": cells, "left_out": part["left_out"] + len(part["cells"]) - len(cells)}, True
    return {"conclusion": part["conclusion"]}, True


PROFILE = Tool(
    "profile",
    "How reliable agents were: error and mistake rates with 95 % intervals, what failures cost, recovery; of one session, or "
    "of all sessions of a project. Use it when a person asks how well a session or an agent does.",
    _PROFILE_SCHEMA,
    run_profile,
)
