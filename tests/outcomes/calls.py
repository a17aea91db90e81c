"""One call and its result, judged. Knows nothing of any agent but by its dialect."""

from typing import Any

from preheat.model.outcome import NO_DIALECT, Dialect, Outcome
from preheat.model.session import Event, Session, ToolCall, ToolKind, ToolResult
from preheat.outcomes import judge


def session_of(*events: Event, agent: str = "some") -> Session:
    return Session(agent=agent, id="one", events=events)


def judged(
    text: str, *, tool: str = "Tool", kind: ToolKind = "other", given: dict[str, Any] | None = None,
    dialect: Dialect = NO_DIALECT, **recorded: Any,
) -> Outcome:  # fmt: skip
    """The outcome of one call; `recorded` is what its program wrote down (`is_error`, `exit_code`, `detail`)."""
    call = ToolCall(line=1, call_id="a", tool=tool, kind=kind, input=given or {})
    result = ToolResult(line=2, call_id="a", text=text, **recorded)
    (outcome,) = judge(session_of(call, result), dialect)
    return outcome


def ran(command: str, text: str, **recorded: Any) -> Outcome:
    """The outcome of a shell command."""
    return judged(text, tool="Shell", kind="shell", given={"command": command}, **recorded)
