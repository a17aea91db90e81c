"""Advice to an agent after an event or before a call: a known repair of the mistake, else the advisory of a signal.

Knows no signal by name but `mistake`, the only one that needs lessons, and no hook's format.
"""

import sqlite3

from preheat.app.live.hook_events import tool_kind
from preheat.archive.lessons import load_lessons
from preheat.commands import command_text
from preheat.live.advise import advice_budget, advise, format_advisory, record_advice
from preheat.live.fold import fold
from preheat.live.known import NO_KNOWN_MISTAKES, KnownMistakes
from preheat.live.known import index_lessons as index_of
from preheat.live.mistake import read_last_failure, read_planned_command
from preheat.live.state import LiveState
from preheat.live.thresholds import DEFAULTS, Thresholds
from preheat.model.live import Advisory, CallEvent, HookEvent, LiveEvent, SignalReading

_BUDGET_TURNS = 10
"""The number of turns that the budget of advice is for."""


def step(
    state: LiveState,
    event: LiveEvent,
    known: KnownMistakes = NO_KNOWN_MISTAKES,
    thresholds: Thresholds = DEFAULTS,
    agent: str = "",
) -> tuple[LiveState, Advisory | None]:
    """The state after an event, and the advisory that it causes, which the state counts as sent."""
    state = fold(state, event, thresholds)
    advisory = advisory_after(state, event, known, thresholds, agent)
    return (state, None) if advisory is None else (record_advice(state, advisory), advisory)


def advisory_after(
    state: LiveState,
    event: LiveEvent,
    known: KnownMistakes = NO_KNOWN_MISTAKES,
    thresholds: Thresholds = DEFAULTS,
    agent: str = "",
) -> Advisory | None:
    """The advisory that an event causes after it was folded: a known repair of the failure, else the advisory of a signal."""
    known_mistake = read_last_failure(state.mistake, known, agent) if isinstance(event, CallEvent) else None
    return advisory_for_mistake(state, known_mistake, thresholds) or advise(state, event, thresholds)


def advise_before_call(
    state: LiveState, event: HookEvent, known: KnownMistakes = NO_KNOWN_MISTAKES, thresholds: Thresholds = DEFAULTS
) -> Advisory | None:
    """The advisory on a call that is about to be made; the caller counts it as sent."""
    if event.subagent or not known.by_command or tool_kind(event) != "shell":
        return None
    return advisory_for_mistake(
        state, read_planned_command(state.mistake, known, command_text(event.arguments), event.agent), thresholds
    )


def advisory_for_mistake(state: LiveState, found: SignalReading | None, thresholds: Thresholds) -> Advisory | None:
    """A known mistake as an advisory, if the budget allows one."""
    if found is None:
        return None
    recent = sum(turn > state.turn - _BUDGET_TURNS for turn in state.advised_turns)
    if recent >= advice_budget(state, thresholds):
        return None
    text = format_advisory(found.text, thresholds.advice_tokens)
    return Advisory(signal="mistake", text=text, cause=found.cause, turn=state.turn, lesson=found.cause)


def load_known_mistakes(connection: sqlite3.Connection, project: str, now: float) -> KnownMistakes:
    """The known mistakes of a project (by its name) and the general ones, from the archive's lessons."""
    return index_of(load_lessons(connection, ("", project) if project else ("",)), now)
