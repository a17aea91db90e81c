"""Sessions watched: hooks and transcripts become events, every event is judged and folded, and what is known may be said.

Knows no signal by name but the known mistake, which alone needs what was learned. Whoever watches imports it then.
"""

import sqlite3
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from inspect import signature
from typing import Any

import msgspec

from preheat.agents import AGENTS, dialect_of
from preheat.agents.tool_names import kind_of as kind_by_name
from preheat.app.assessment import assess
from preheat.commands import text_of
from preheat.live.advise import advise, budget, told, worded
from preheat.live.events import asked, called, events_of
from preheat.live.fold import fold, readings
from preheat.live.known import NOTHING, Known
from preheat.live.known import known as index_of
from preheat.live.mistake import about_to, happened
from preheat.live.state import START, LiveState
from preheat.live.thresholds import DEFAULTS, Thresholds
from preheat.model.live import (
    Advisory,
    Began,
    Called,
    Compacted,
    Ended,
    HookEvent,
    LiveEvent,
    Phase,
    Reading,
    Stopped,
)
from preheat.model.outcome import Outcome
from preheat.model.session import Session, ToolCall, ToolKind, ToolResult
from preheat.outcomes import judge
from preheat.profiles.bookkeeping import is_bookkeeping

_TURNS = 10
"""That the budget of advice is for."""


# Hooks.
def from_hook(event: HookEvent, root: str = "") -> list[LiveEvent]:
    """What a hook tells, for the fold; nothing for what is about to happen or is not ours. `root` is the project's folder."""
    at = event.at
    if event.subagent:
        return []
    if event.name in ("after_tool", "tool_failed"):
        notes = not event.tool or is_bookkeeping(event.tool, tool_kind(event))
        return [] if notes else [called_by_hook(event, root)]
    if event.name == "session_start":
        began = Began(at=at, source=event.source or "startup")
        # Some programs tell of the start with the first prompt.
        return [began, asked(event.prompt, at, root, event.cwd)] if event.prompt.strip() else [began]
    if event.name == "prompt":
        return [asked(event.prompt, at, root, event.cwd)] if event.prompt.strip() else []
    if event.name in ("before_compaction", "after_compaction"):  # some programs tell of the one only; twice is no more
        return [Compacted(at=at)]
    if event.name == "stop":
        return [Stopped(at=at)]
    return [Ended(at=at)] if event.name == "session_end" else []


def called_by_hook(event: HookEvent, root: str = "") -> Called:
    """A call that a hook tells of, judged as it would be in its transcript."""
    call = ToolCall(
        line=1,
        at=event.at,
        call_id=event.call_id,
        tool=event.tool,
        kind=tool_kind(event),
        input=event.arguments,
        response=event.turn,
    )
    failed = True if event.name == "tool_failed" and event.is_error is None else event.is_error
    result = None
    if event.result is not None or failed is not None or event.exit_code is not None:
        result = ToolResult(
            line=2,
            at=event.at,
            call_id=event.call_id,
            text=event.result or "",
            is_error=failed,
            exit_code=event.exit_code,
            seconds=event.seconds,
            detail=event.detail,
        )
    if event.interrupted:
        outcome = Outcome(event.call_id, "interrupted", "flag", cause="environment")
    else:
        alone = Session(agent=event.agent, id=event.session, events=(call,) if result is None else (call, result))
        (outcome,) = judge(alone, dialect_of(event.agent))
    return called(call, result, outcome, root=root, folder=event.cwd)


def tool_kind(event: HookEvent) -> ToolKind:
    """What the tool of a hook is for, by the agent's own names; hooks may use others than transcripts do."""
    kinds = _kinds(event.agent)
    kind = kinds(event.tool, event.arguments) if kinds is not None else "other"
    return kind_by_name(event.tool) if kind == "other" and not event.tool.startswith("mcp") else kind


@lru_cache(64)
def _kinds(agent: str) -> Callable[[str, dict[str, Any]], ToolKind] | None:
    if agent not in AGENTS or find_spec(f"preheat.agents.{agent}.tools") is None:
        return None
    kind_of = getattr(import_module(f"preheat.agents.{agent}.tools"), "kind_of", None)
    if kind_of is None:
        return None
    if len(signature(kind_of).parameters) > 1:
        return kind_of  # type: ignore[no-any-return]
    return lambda tool, arguments: kind_of(tool)


# What is said.
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
    return _handed(state, found, thresholds) or advise(state, event, thresholds)


def before(
    state: LiveState, event: HookEvent, known: Known = NOTHING, thresholds: Thresholds = DEFAULTS
) -> Advisory | None:
    """What is worth saying of a call that is about to be made. `told` counts it."""
    if event.subagent or not known.avoided or tool_kind(event) != "shell":
        return None
    return _handed(state, about_to(state.mistake, known, text_of(event.arguments), event.agent), thresholds)


def _handed(state: LiveState, found: Reading | None, thresholds: Thresholds) -> Advisory | None:
    """A known mistake as an advisory, if there is room for one."""
    if found is None:
        return None
    lately = sum(turn > state.turn - _TURNS for turn in state.advised)
    if lately >= budget(state, thresholds):
        return None
    text = worded(found.text, thresholds.advice_tokens)
    return Advisory(signal="mistake", text=text, cause=found.cause, turn=state.turn, lesson=found.cause)


# What is known.
def known_in(connection: sqlite3.Connection, project: str, now: float) -> Known:
    """What the archive knows of mistakes in a project (by its name) and anywhere."""
    from preheat.archive.lessons import lessons

    return index_of(lessons(connection, ("", project) if project else ("",)), now)


# Whole sessions.
class Moment(msgspec.Struct, frozen=True, kw_only=True):
    """One event of a session, and all that is to be told of it."""

    event: LiveEvent
    turn: int
    phase: Phase
    reason: str = ""
    """Why the phase changed; empty where it did not."""
    readings: tuple[Reading, ...] = ()
    """Every signal after it."""
    advisories: tuple[Advisory, ...] = ()
    """At most two: one before a call, one after it."""


class Timeline(msgspec.Struct, frozen=True, kw_only=True):
    """A session as it would have been watched."""

    session: str
    agent: str
    project: str
    turns: int
    moments: tuple[Moment, ...]

    @property
    def advisories(self) -> list[Advisory]:
        return [advisory for moment in self.moments for advisory in moment.advisories]


def watch(
    session: Session,
    known: Known = NOTHING,
    thresholds: Thresholds = DEFAULTS,
    *,
    root: str = "",
    finished: bool = True,
) -> Timeline:
    """A session from its beginning, event by event, as the hooks would have told it."""
    state = START
    moments: list[Moment] = []
    for event in events_of(session, assess(session).records, root, finished=finished):
        said: list[Advisory] = []
        if isinstance(event, Called) and event.kind == "shell":
            warning = _handed(state, about_to(state.mistake, known, event.summary, session.agent), thresholds)
            if warning is not None:
                said.append(warning)
                state = told(state, warning)
        phase = state.phase.phase
        state, advisory = step(state, event, known, thresholds, session.agent)
        if advisory is not None:
            said.append(advisory)
        now = state.phase
        moments.append(
            Moment(
                event=event,
                turn=state.turn,
                phase=now.phase,
                reason=now.reason if now.phase != phase else "",
                readings=readings(state, thresholds),
                advisories=tuple(said),
            )
        )
    return Timeline(
        session=session.id, agent=session.agent, project=session.project, turns=state.turn, moments=tuple(moments)
    )
