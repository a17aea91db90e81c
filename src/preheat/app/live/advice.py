"""Advice to an agent after an event or before a call: a known repair of the mistake, else the advisory of a signal.

Knows no signal by name but `mistake`, the only one that needs lessons, and no hook's format.
"""

import sqlite3

from preheat.app.live.hook_events import tool_kind
from preheat.archive.lessons import lessons
from preheat.commands import text_of
from preheat.live.advise import advise, budget, told, worded
from preheat.live.fold import fold
from preheat.live.known import NOTHING, Known
from preheat.live.known import known as index_of
from preheat.live.mistake import about_to, happened
from preheat.live.state import LiveState
from preheat.live.thresholds import DEFAULTS, Thresholds
from preheat.model.live import Advisory, Called, HookEvent, LiveEvent, Reading

_BUDGET_TURNS = 10
"""The number of turns that the budget of advice is for."""


def step(
    state: LiveState, event: LiveEvent, known: Known = NOTHING, thresholds: Thresholds = DEFAULTS, agent: str = ""
) -> tuple[LiveState, Advisory | None]:
    """The state after an event, and the advisory that it causes, which the state counts as sent."""
    state = fold(state, event, thresholds)
    advisory = advisory_for(state, event, known, thresholds, agent)
    return (state, None) if advisory is None else (told(state, advisory), advisory)


def advisory_for(
    state: LiveState, event: LiveEvent, known: Known = NOTHING, thresholds: Thresholds = DEFAULTS, agent: str = ""
) -> Advisory | None:
    """The advisory that an event causes after it was folded: a known repair of the failure, else the advisory of a signal."""
    known_mistake = happened(state.mistake, known, agent) if isinstance(event, Called) else None
    return advisory_of(state, known_mistake, thresholds) or advise(state, event, thresholds)


def before(
    state: LiveState, event: HookEvent, known: Known = NOTHING, thresholds: Thresholds = DEFAULTS
) -> Advisory | None:
    """The advisory on a call that is about to be made; the caller counts it as sent."""
    if event.subagent or not known.avoided or tool_kind(event) != "shell":
        return None
    return advisory_of(state, about_to(state.mistake, known, text_of(event.arguments), event.agent), thresholds)


def advisory_of(state: LiveState, found: Reading | None, thresholds: Thresholds) -> Advisory | None:
    """A known mistake as an advisory, if the budget allows one."""
    if found is None:
        return None
    recent = sum(turn > state.turn - _BUDGET_TURNS for turn in state.advised)
    if recent >= budget(state, thresholds):
        return None
    text = worded(found.text, thresholds.advice_tokens)
    return Advisory(signal="mistake", text=text, cause=found.cause, turn=state.turn, lesson=found.cause)


def known_in(connection: sqlite3.Connection, project: str, now: float) -> Known:
    """The known mistakes of a project (by its name) and the general ones, from the archive's lessons."""
    return index_of(lessons(connection, ("", project) if project else ("",)), now)
