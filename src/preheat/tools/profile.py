"""`profile`: how reliable an agent was, in one session or over many. Nothing is measured here."""

import os
import sys
from typing import Any

import msgspec

from preheat.app.context.model_text import in_value, quotation
from preheat.app.sessions.caller import session_named
from preheat.tools.fitting import MAX_TOKENS, tokens
from preheat.tools.opening import AGENT, DAYS, PROJECT, analysed, archived, data_note, filter_of
from preheat.tools.tool import MOST_TOKENS, Asked, Tool

PARTS = ("tools", "activities", "agents", "models", "projects", "even", "windows", "tenths", "marathon", "by_agent")
_ALWAYS = ("sessions", "calls", "bookkeeping_calls", "statuses", "causes", "overall", "too_little")
_SCHEMA = {
    "type": "object",
    "properties": {
        "session": {"type": "string", "description": "Its id, the beginning of it, or `latest`; else all that fit."},
        "project": PROJECT,
        "agent": AGENT,
        "days": DAYS,
        "parts": {
            "type": "array",
            "items": {"type": "string", "enum": list(PARTS)},
            "description": "Of many sessions: more than the rates over all and by tool.",
        },
        "max_tokens": MAX_TOKENS,
    },
    "additionalProperties": False,
}


def run(asked: Asked) -> dict[str, Any]:
    session = asked.arguments.get("session", "").strip()
    return _one(asked, session) if session else _many(asked)


def _one(asked: Asked, name: str) -> dict[str, Any]:
    measured = archived(asked).profile(session_named(name))
    return {"note": data_note(), **in_value(quotation, msgspec.to_builtins(measured))}


def _many(asked: Asked) -> dict[str, Any]:
    if "numpy" not in sys.modules:  # the matrices are small: threads would only wait for each other
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    given = asked.arguments
    chosen = filter_of(asked)
    opened = analysed(asked)
    measured = opened.home.reliability.as_analysed().population(chosen)
    whole: dict[str, Any] = in_value(quotation, msgspec.to_builtins(measured))
    answer: dict[str, Any] = {"note": data_note(chosen.project or ""), "project": chosen.project or "all"}
    answer |= opened.missing | {name: whole[name] for name in _ALWAYS}
    answer["conclusion"] = whole["marathon"]["conclusion"]
    if not measured.sessions:
        answer["next"] = "no session fits: take a filter away, `project` `all` looks everywhere; or run `preheat sync`"
        return answer
    wanted = list(dict.fromkeys(given.get("parts") or ("tools",)))
    room = given.get("max_tokens", MOST_TOKENS) - tokens(answer) - 100
    short: list[str] = []
    for name in wanted:
        part, cut = _fitted(whole[name], room)
        room -= tokens(part)
        answer[name] = part
        if cut:
            short.append(name)
    if short:
        answer["left_out"] = f"the ends of {', '.join(short)}; `max_tokens` gives more"
    answer["more"] = f"`parts` also gives {', '.join(name for name in PARTS if name not in wanted) or 'nothing else'}"
    return answer


def _fitted(part: Any, room: int) -> tuple[Any, bool]:
    """As much of a part as there is room for, and whether that is not all: its rows are ordered, the weightiest first."""
    if tokens(part) <= room:
        return part, False
    if isinstance(part, list):
        kept: list[Any] = []
        for row in part:
            room -= tokens(row)
            if room < 0:
                break
            kept.append(row)
        return kept, True
    if "cells" in part:
        cells, _ = _fitted(part["cells"], room)
        return {**part, "cells": cells, "left_out": part["left_out"] + len(part["cells"]) - len(cells)}, True
    return {"conclusion": part["conclusion"]}, True


PROFILE = Tool(
    "profile",
    "How reliable agents were: error and mistake rates with 95 % intervals, what failures cost, recovery; of one session, or "
    "of all sessions of a project. Use it when a person asks how well a session or an agent does.",
    _SCHEMA,
    run,
)
