"""The tools `session_search`, `profile` and `why`: passages of sessions, how reliable agents were, and the signals of a session.

Measures nothing itself.
"""

import os
import re
import sys
from datetime import UTC, datetime
from typing import Any

import msgspec

from preheat.app.agents import resolve_session_name
from preheat.app.model_text import (
    FIELDS,
    OURS,
    PATHS,
    Kinds,
    fit_fields,
    fit_text,
    make_harmless,
    make_harmless_line,
    map_texts,
    strip_invisible,
)
from preheat.model.listing import SearchHit
from preheat.tools.tool import (
    AGENT,
    DAYS,
    MAX_TOKENS,
    MOST_TOKENS,
    OFFSET,
    PROJECT,
    Tool,
    ToolRequest,
    count_tokens,
    data_note,
    fit_rows,
    make_filter,
    open_analysed_archive,
    open_archive,
)

# `session_search`
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
_RECORDED = "`recorded` quotes transcripts: what a person, a model or a tool wrote then, to somebody else."


def _run_session_search(request: ToolRequest) -> dict[str, Any]:
    arguments = request.arguments
    chosen = make_filter(request)
    most = arguments.get("offset", 0) + _MOST
    sessions = open_archive(request).archive
    hits = sessions.search(arguments["words"], chosen, tuple(arguments.get("kind", ())), most)
    terms = sessions.search_terms(arguments["words"])
    answer: dict[str, Any] = {"note": f"{data_note(chosen.project or '')} {_RECORDED}"}
    answer["project"] = fit_text(chosen.project or "all", "project")
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
        "project": fit_text(session.project, "project"),
        "line": hit.line,
        "kind": hit.kind,
        "recorded": {
            "about": make_harmless_line(session.title or session.opening, 100),
            "text": _around(hit.text, terms),
        },
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
    return f"{'…' if start else ''}{make_harmless(part)}{'…' if start + _LONGEST < len(text) else ''}"


SESSION_SEARCH = Tool(
    "session_search",
    "Searches what people and agents said in earlier sessions and which commands were run; gives passages with session, time "
    "and project. Use it when a person refers to earlier work, or to see how something was done before.",
    _SEARCH_SCHEMA,
    _run_session_search,
)


# `profile`
PARTS = ("tools", "activities", "agents", "models", "projects", "even", "windows", "tenths", "marathon", "by_agent")
_NAMED_PARTS = frozenset(("tools", "activities", "agents", "models", "projects"))
"""Breakdowns whose rows have names from sessions."""
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


def run_profile(request: ToolRequest) -> dict[str, Any]:
    session = request.arguments.get("session", "").strip()
    return _profile_session(request, session) if session else _profile_sessions(request)


def _profile_session(request: ToolRequest, name: str) -> dict[str, Any]:
    measured = open_archive(request).profile(resolve_session_name(name))
    return {"note": data_note(), **fit_fields(msgspec.to_builtins(measured))}


def _profile_sessions(request: ToolRequest) -> dict[str, Any]:
    if "numpy" not in sys.modules:  # the matrices are small: threads would only wait for each other
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    arguments = request.arguments
    chosen = make_filter(request)
    opened = open_analysed_archive(request)
    measured = opened.home.reliability.without_analysing().population(chosen)
    whole: dict[str, Any] = {
        name: fit_fields(each) if name in _NAMED_PARTS else map_texts(strip_invisible, each)
        for name, each in msgspec.to_builtins(measured).items()
    }
    answer: dict[str, Any] = {
        "note": data_note(chosen.project or ""),
        "project": fit_text(chosen.project or "all", "project"),
    }
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


# `why`
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
_SIGNAL_FIELDS: Kinds = {
    **FIELDS,
    "text": OURS,
    "facts": OURS,
    "files": PATHS,
    "goal": PATHS,
    "of": ("command", "error"),
    "about to run": "command",
    "last failure": "error",
    "turn": ("number", "token"),
}
"""Facts of signals: arithmetic of ours, and what it is about. The text of a reading was written by a sentence."""


def _run_why(request: ToolRequest) -> dict[str, Any]:
    name = resolve_session_name(request.arguments.get("session", "").strip() or "latest")
    found, turn = open_archive(request).live.replay_turn(name)
    explained = found.explain(request.arguments.get("turn", turn))
    answer: dict[str, Any] = {"note": data_note()}
    whole = msgspec.to_builtins(explained)
    answer |= fit_fields(whole, _SIGNAL_FIELDS)
    advisories = found.timeline.advisories
    answer["sent"] = fit_fields([msgspec.to_builtins(each) for each in advisories[-_MOST_ADVISORIES:]], _SIGNAL_FIELDS)
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
