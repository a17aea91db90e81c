"""Sessions as the learners see them, built by hand: calls with their verdicts and what people said. Knows no learner.

Nothing is judged here: a test states what came of a call. What mended what is found as in a real session.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from preheat.calls.intent import find_recoveries
from preheat.calls.judged import JudgedCall, JudgedSession
from preheat.calls.shell import read_shell
from preheat.commands import command_text
from preheat.model.outcome import FAILURES, Cause, Outcome, Status
from preheat.model.profile import CallRecord
from preheat.model.session import Event, Session, Starter, ToolCall, ToolKind, ToolResult, UserMessage

STARTED = 1_767_606_000.0
PACE = 10.0
"""Seconds from one call to the next."""


class Made(NamedTuple):
    """One call and what a test says came of it."""

    tool: str
    kind: ToolKind
    arguments: dict[str, Any]
    output: str
    status: Status
    exit_code: int | None
    cause: Cause | None
    signature: str
    lost_seconds: float
    lost_tokens: int
    response: str
    """Calls of one response were decided together; empty: a response of its own."""


def used(
    tool: str,
    kind: ToolKind,
    arguments: dict[str, Any],
    output: str = "",
    *,
    cause: Cause | None = None,
    signature: str = "",
    status: Status | None = None,
    exit_code: int | None = None,
    lost_seconds: float = 5.0,
    lost_tokens: int = 100,
    response: str = "",
) -> Made:
    """A call of any tool; one with a cause failed, and its signature is its output if no other is given."""
    outcome = status or ("failed" if cause else "ok")
    lost = outcome in FAILURES and cause != "finding"
    return Made(
        tool,
        kind,
        arguments,
        output,
        outcome,
        exit_code,
        cause,
        signature or (output if cause else ""),
        lost_seconds if lost else 0.0,
        lost_tokens if lost else 0,
        response,
    )


def ran(
    command: str,
    output: str = "",
    exit_code: int = 0,
    *,
    cause: Cause | None = None,
    signature: str = "",
    status: Status | None = None,
    tool: str = "Bash",
    response: str = "",
) -> Made:
    """A shell command; one with an exit code other than 0 was a mistake if nothing else is said."""
    return used(
        tool,
        "shell",
        {"command": command},
        output,
        cause=cause or ("mistake" if exit_code else None),
        signature=signature,
        status=status,
        exit_code=exit_code,
        response=response,
    )


def seen(
    calls: Sequence[Made] = (),
    *,
    said: Sequence[str] = (),
    key: str = "tester:1",
    agent: str = "tester",
    root: str = "/w/shop",
    branch: str = "main",
    model: str = "model-1",
    started: float = STARTED,
    starter: Starter = "human",
) -> JudgedSession:
    """A session: what people said comes first, then the calls in their order, `PACE` seconds apart."""
    events: list[Event] = [
        UserMessage(line=number + 1, at=started + number, text=text) for number, text in enumerate(said)
    ]
    made: list[ToolCall] = []
    results: list[ToolResult] = []
    outcomes: list[Outcome] = []
    for place, each in enumerate(calls):
        at = started + len(said) + place * PACE
        line, call_id = len(said) + 2 * place + 1, f"call_{place}"
        call = ToolCall(
            line=line,
            at=at,
            call_id=call_id,
            tool=each.tool,
            kind=each.kind,
            input=each.arguments,
            response=each.response or f"response_{place}",
        )
        result = ToolResult(
            line=line + 1,
            at=at + 1.0,
            call_id=call_id,
            text=each.output,
            is_error=each.status in FAILURES,
            exit_code=each.exit_code,
        )
        outcomes.append(Outcome(call_id, each.status, "flag", each.exit_code, each.signature, each.cause))
        made.append(call)
        results.append(result)
        events += (call, result)
    mended = find_recoveries(made, outcomes)
    records = [_record(place, each, mended.get(place)) for place, each in enumerate(calls)]
    ended = started + len(said) + len(calls) * PACE
    return JudgedSession(
        key=key,
        root=root,
        session=Session(
            agent=agent,
            id=key.rpartition(":")[2],
            model=model,
            project=root,
            branch=branch,
            started_at=started,
            ended_at=ended,
            starter=starter,
            events=tuple(events),
        ),
        calls=tuple(map(JudgedCall, made, results, records)),
    )


def _record(place: int, made: Made, recovered_in: int | None) -> CallRecord:
    text = command_text(made.arguments) if made.kind == "shell" else ""
    return CallRecord(
        seq=place,
        tool=made.tool,
        kind=made.kind,
        activity=read_shell(text).activity if text else made.kind,
        message=place + 2,
        era=0,
        bookkeeping=False,
        status=made.status,
        rung="flag",
        exit_code=made.exit_code,
        signature=made.signature,
        cause=made.cause,
        confidence=1.0,
        repeated=False,
        reread=False,
        seconds=1.0,
        lost_seconds=made.lost_seconds,
        lost_tokens=made.lost_tokens,
        recovered_in=recovered_in,
    )
