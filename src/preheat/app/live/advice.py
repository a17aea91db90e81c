"""What is said to an agent after an event or before a call: what is known to mend a mistake, else what a signal has to say.

Knows no signal by name but the known mistake, which alone needs what was learned, and no hook's form.
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

_TURNS = 10
"""That the budget of advice is for."""


def step(
    state: LiveState, event: LiveEvent, known: Known = NOTHING, thresholds: Thresholds = DEFAULTS, agent: str = ""
) -> tuple[LiveState, Advisory | None]:
    """The state after an event, and the one text that it causes, counted as told."""
    state = fold(state, event, thresholds)
    advisory = advisory_for(state, event, known, thresholds, agent)
    return (state, None) if advisory is None else (told(state, advisory), advisory)


def advisory_for(
    state: LiveState, event: LiveEvent, known: Known = NOTHING, thresholds: Thresholds = DEFAULTS, agent: str = ""
) -> Advisory | None:
    """What an event that was just folded is worth saying: what mends the very failure, else what a signal has to say."""
    found = happened(state.mistake, known, agent) if isinstance(event, Called) else None
    return advisory_of(state, found, thresholds) or advise(state, event, thresholds)


def before(
    state: LiveState, event: HookEvent, known: Known = NOTHING, thresholds: Thresholds = DEFAULTS
) -> Advisory | None:
    """What is worth saying of a call that is about to be made. `told` counts it."""
    if event.subagent or not known.avoided or tool_kind(event) != "shell":
        return None
    return advisory_of(state, about_to(state.mistake, known, text_of(event.arguments), event.agent), thresholds)


def advisory_of(state: LiveState, found: Reading | None, thresholds: Thresholds) -> Advisory | None:
    """A known mistake as an advisory, if there is room for one."""
    if found is None:
        return None
    lately = sum(turn > state.turn - _TURNS for turn in state.advised)
    if lately >= budget(state, thresholds):
        return None
    text = worded(found.text, thresholds.advice_tokens)
    return Advisory(signal="mistake", text=text, cause=found.cause, turn=state.turn, lesson=found.cause)


def known_in(connection: sqlite3.Connection, project: str, now: float) -> Known:
    """What the archive knows of mistakes in a project (by its name) and anywhere."""
    return index_of(lessons(connection, ("", project) if project else ("",)), now)
