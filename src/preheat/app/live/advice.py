"""Hook events as the live events of a session, and the advice that follows: a known repair of the mistake, else a signal's
advisory.

Knows no signal by name but `mistake`, the only one that needs lessons, and no hook's format.
"""

import os
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING, Any

from preheat.agents import LIVE, dialect_of
from preheat.agents.tool_names import kind_by_name as kind_by_name
from preheat.answers.values import SessionFacts
from preheat.app.facts import FolderFacts
from preheat.app.lazy import LazyModule
from preheat.archive.database import ArchiveConnection
from preheat.archive.lessons import load_lessons
from preheat.calls.files import changed_files, changed_lines, file_of, written_files
from preheat.calls.intent import is_bookkeeping
from preheat.commands import command_text
from preheat.facts.place import Place
from preheat.live.advice import advice_budget, advise, format_advisory, record_advice
from preheat.live.events import call_event, prompt_event
from preheat.live.mistake import (
    NO_KNOWN_MISTAKES,
    KnownMistakes,
    index_lessons,
    read_earlier_failure,
    read_last_failure,
    read_planned_command,
)
from preheat.live.signal import DEFAULTS, Thresholds
from preheat.live.state import LiveState, fold, reading
from preheat.model.live import (
    Advisory,
    CallEvent,
    CompactionEvent,
    EndEvent,
    HookEvent,
    LiveEvent,
    SignalReading,
    StartEvent,
    StopEvent,
)
from preheat.model.outcome import FAILURES, Outcome
from preheat.model.session import Session, ToolCall, ToolKind, ToolResult
from preheat.safe_text.paths import make_paths_relative

if TYPE_CHECKING:
    from preheat import outcomes
else:  # as in `hooks`, which loads it before the first call
    outcomes = LazyModule("preheat.outcomes")


NO_DOINGS = SessionFacts()


# Live events.
def live_events(event: HookEvent, root: str = "") -> list[LiveEvent]:
    """The live events of a hook event; none for a call that is about to be made or a subagent's event. `root` is the project."""
    at = event.at
    if event.subagent:
        return []
    if event.name in ("after_tool", "tool_failed"):
        is_note = not event.tool or is_bookkeeping(event.tool, tool_kind(event))
        return [] if is_note else [judge_call(event, root)]
    if event.name == "session_start":
        start = StartEvent(at=at, source=event.source or "startup")
        # Some programs send the start with the first prompt.
        return [start, prompt_event(event.prompt, at, root, event.cwd)] if event.prompt.strip() else [start]
    if event.name == "prompt":
        return [prompt_event(event.prompt, at, root, event.cwd)] if event.prompt.strip() else []
    if event.name in ("before_compaction", "after_compaction"):  # some programs send only one of them; two do no harm
        return [CompactionEvent(at=at)]
    if event.name == "stop":
        return [StopEvent(at=at)]
    return [EndEvent(at=at)] if event.name == "session_end" else []


def judge_call(event: HookEvent, root: str = "") -> CallEvent:
    """The call of a hook event, judged as it would be in its transcript."""
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
        (outcome,) = outcomes.judge(alone, dialect_of(event.agent))
    return call_event(call, result, outcome, root=root, folder=event.cwd)


def tool_kind(event: HookEvent) -> ToolKind:
    """The kind of a hook event's tool, by the agent's own names; hooks may use other names than transcripts."""
    kinds = _kind_function(event.agent)
    kind = kinds(event.tool, event.arguments) if kinds is not None else "other"
    return kind_by_name(event.tool) if kind == "other" and not event.tool.startswith("mcp") else kind


@lru_cache(64)
def _kind_function(agent: str) -> Callable[[str, dict[str, Any]], ToolKind] | None:
    if agent not in LIVE:
        return None
    kind_of = import_module(f"preheat.agents.{agent}.tools").kind_of
    if len(signature(kind_of).parameters) > 1:
        return kind_of  # type: ignore[no-any-return]
    return lambda tool, arguments: kind_of(tool)


# Advice.
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


_TURNS_OVERDUE = 5
"""Turns after which an advisory that could not be given is not given any more."""


def still_holds(
    state: LiveState,
    advisory: Advisory,
    known: KnownMistakes = NO_KNOWN_MISTAKES,
    thresholds: Thresholds = DEFAULTS,
    agent: str = "",
) -> bool:
    """Whether an advisory that could not be given when it came up is still true: the failure that it explains is the last one,
    or its signal still names its cause."""
    if state.turn - advisory.turn > _TURNS_OVERDUE:
        return False
    if advisory.signal == "mistake":
        found = read_earlier_failure(state.mistake, known, agent)
    else:  # over the threshold or not: at a stop the strictest one counts
        found = reading(state, advisory.signal, thresholds)
    return found is not None and found.cause[: len(advisory.cause)] == advisory.cause


def advise_before_call(
    state: LiveState, event: HookEvent, known: KnownMistakes = NO_KNOWN_MISTAKES, thresholds: Thresholds = DEFAULTS
) -> Advisory | None:
    """The advisory on a call that is about to be made; the caller counts it as sent."""
    if event.subagent or not known.by_command or tool_kind(event) != "shell":
        return None
    return advisory_for_mistake(
        state, read_planned_command(state.mistake, known, command_text(event.arguments), event.agent), thresholds
    )


def advise_with_fact(
    state: LiveState,
    event: HookEvent,
    facts: FolderFacts,
    root: str = "",
    thresholds: Thresholds = DEFAULTS,
    told: frozenset[str] = frozenset(),
    edited: Sequence[str] = (),
    ran: Sequence[str] = (),
    doings: SessionFacts = NO_DOINGS,
) -> Advisory | None:
    """The fact of the project that a call is about to need, once in a session: what a commit runs and looks like, that a file is
    generated, how its test is run, what a command will not find. `told`: the ids of the lessons that the session was given
    before; `edited` and `ran`: the files that it changed and the checks that it ran; `doings`: what else it did."""
    kind = tool_kind(event)
    if event.subagent or not facts.lessons or kind not in ("shell", "edit", "write"):
        return None
    command = make_paths_relative(command_text(event.arguments), root) if kind == "shell" else ""
    call = ToolCall(line=1, call_id=event.call_id, tool=event.tool, kind=kind, input=event.arguments)
    paths = [] if command else [path for path in (*changed_files(call).splitlines(), file_of(call)) if path]
    folder = event.arguments.get("workdir") or event.arguments.get("cwd")
    has_folder = isinstance(folder, str) and bool(folder)
    known = Place(
        folder="" if has_folder or not doings.moved else None,
        edited=tuple(edited),
        ran=tuple(ran),
        created=tuple(_below(path, root) for path in written_files(call) if not command),
        lines=() if command else changed_lines(call),
    )
    told |= frozenset(state.mistake.given_lessons)
    cwd = os.path.join(event.cwd, str(folder)) if has_folder else event.cwd
    changed = [_below(path, root) for path in paths]
    found = facts.choose_for_call(event.agent, command, changed, told, cwd, known, doings.missing_programs)
    return _advise_fact(state, found, thresholds)


def _below(path: str, root: str) -> str:
    """A path as the project has it; what lies outside begins with `..`."""
    return os.path.relpath(path, root) if os.path.isabs(path) and root else path


def advise_with_fact_after_failure(
    state: LiveState,
    event: LiveEvent,
    agent: str,
    facts: FolderFacts,
    thresholds: Thresholds = DEFAULTS,
    told: frozenset[str] = frozenset(),
    edited: Sequence[str] = (),
) -> Advisory | None:
    """The fact that names what the last call lacked, if that failed, or that helps after a check that found something; once in a
    session. `told`: the ids of the lessons that the session was given before; `edited`: the files that it changed."""
    if not isinstance(event, CallEvent) or event.kind != "shell" or event.status not in FAILURES:
        return None
    told |= frozenset(state.mistake.given_lessons)
    if event.cause == "finding":
        found = facts.choose_after_check(agent, event.checks, event.summary, told, edited)
    else:
        found = facts.choose_after_failure(agent, event.signature, told, event.summary) if event.signature else None
    return _advise_fact(state, found, thresholds)


def _advise_fact(state: LiveState, found: tuple[str, str] | None, thresholds: Thresholds) -> Advisory | None:
    if found is None:
        return None
    line, lesson = found
    known = SignalReading(signal="mistake", value=1.0, fired=True, cause=lesson, text=line)
    return advisory_for_mistake(state, known, thresholds)


def advisory_for_mistake(state: LiveState, found: SignalReading | None, thresholds: Thresholds) -> Advisory | None:
    """A known mistake as an advisory, if the budget allows one."""
    if found is None:
        return None
    recent = sum(turn > state.turn - _BUDGET_TURNS for turn in state.advised_turns)
    if recent >= advice_budget(state, thresholds):
        return None
    text = format_advisory(found.text, thresholds.advice_tokens)
    return Advisory(signal="mistake", text=text, cause=found.cause, turn=state.turn, lesson=found.cause)


def load_known_mistakes(connection: ArchiveConnection, project: str, now: float, where: str = "") -> KnownMistakes:
    """The known mistakes of a project (by its name) and the general ones, from the archive's lessons and, for a folder, from
    those of others that are trusted there."""
    return index_lessons(load_lessons(connection, ("", project) if project else ("",), where), now)
