"""What a hook tells, as the events that a running session is folded from: every call judged as it would be in its transcript.

Knows no signal, and nothing of what is said.
"""

from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from inspect import signature
from typing import Any

from preheat.agents import AGENTS, dialect_of
from preheat.agents.tool_names import kind_of as kind_by_name
from preheat.live.events import asked, called
from preheat.model.live import Began, Called, Compacted, Ended, HookEvent, LiveEvent, Stopped
from preheat.model.outcome import Outcome
from preheat.model.session import Session, ToolCall, ToolKind, ToolResult
from preheat.outcomes import judge
from preheat.profiles.bookkeeping import is_bookkeeping


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
