"""Hook events as the live events that a running session is folded from; each call is judged as in a transcript.

Knows no signal and no advice.
"""

from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from inspect import signature
from typing import Any

from preheat.agents import AGENTS, dialect_of
from preheat.agents.tool_names import kind_by_name as kind_by_name
from preheat.live.events import call_event, prompt_event
from preheat.model.live import CallEvent, CompactionEvent, EndEvent, HookEvent, LiveEvent, StartEvent, StopEvent
from preheat.model.outcome import Outcome
from preheat.model.session import Session, ToolCall, ToolKind, ToolResult
from preheat.outcomes import judge
from preheat.profiles.bookkeeping import is_bookkeeping


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
        (outcome,) = judge(alone, dialect_of(event.agent))
    return call_event(call, result, outcome, root=root, folder=event.cwd)


def tool_kind(event: HookEvent) -> ToolKind:
    """The kind of a hook event's tool, by the agent's own names; hooks may use other names than transcripts."""
    kinds = _kind_function(event.agent)
    kind = kinds(event.tool, event.arguments) if kinds is not None else "other"
    return kind_by_name(event.tool) if kind == "other" and not event.tool.startswith("mcp") else kind


@lru_cache(64)
def _kind_function(agent: str) -> Callable[[str, dict[str, Any]], ToolKind] | None:
    if agent not in AGENTS or find_spec(f"preheat.agents.{agent}.tools") is None:
        return None
    kind_of = getattr(import_module(f"preheat.agents.{agent}.tools"), "kind_of", None)
    if kind_of is None:
        return None
    if len(signature(kind_of).parameters) > 1:
        return kind_of  # type: ignore[no-any-return]
    return lambda tool, arguments: kind_of(tool)
