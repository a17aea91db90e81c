"""What compressing left of a training that is of use elsewhere: real calls that worked, with their results, and the lessons that
rest on calls which are left. Pure; knows no agent, nor how sessions are made shorter.

A call comes in as it was made or not at all: arguments that were cut, or that mean nothing elsewhere, make it unfit.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from preheat.calls.form import command_form
from preheat.commands import CHECKS, command_text, understand
from preheat.model.lesson import Evidence, Example, Lesson, LessonKind, Scope, Support, lesson_id
from preheat.model.profile import CallRecord
from preheat.model.session import Session, ToolCall, pair_calls_with_results
from preheat.safe_text.letters import ESCAPES, one_line
from preheat.safe_text.reasons import danger_reason, junk_reason, order_reason

TRANSFERABLE: frozenset[LessonKind] = frozenset(["convention", "repair", "dead_end", "error", "sequence", "example"])
"""Kinds that mean something outside the folders of a training: files and half-done work of those are gone."""
RESULT_LENGTH = 800
"""Characters of a result, of which the strategy may leave fewer."""
_ARGUMENTS = 800
_HALF_LIFE = 90.0
_LOOKING = frozenset(["read", "list", "search"])
_MENDS, _CHECKS, _OTHER = 0.7, 0.6, 0.4
"""What an example is worth by itself: one that puts a mistake right, one that says how the work is checked, any other."""
_ESCAPES = re.compile(ESCAPES.pattern + r"|\r(?=\n)")


class TrainedSession(NamedTuple):
    """One session of a training, and what compressing left of it."""

    key: str
    session: Session
    calls: tuple[tuple[ToolCall, CallRecord], ...]
    """Its calls that are work, with what came of each."""
    relative: Callable[[str], str]
    """Makes the paths in a text begin at the folder of the task."""
    left: Session
    kept: tuple[int, ...]
    """Places (`CallRecord.seq`) of the calls that are left."""


def surviving_lessons(lessons: Iterable[Lesson], trained: Sequence[TrainedSession], project: str) -> list[Lesson]:
    """The lessons that mean something elsewhere and rest on at least one call that compressing left."""
    left = {(each.key, seq) for each in trained for seq in each.kept}
    return [
        msgspec.structs.replace(lesson, scope=Scope(lesson.scope.agent, project, lesson.scope.tool))
        for lesson in lessons
        if lesson.kind in TRANSFERABLE
        and any(each.seq is None or (each.session, each.seq) in left for each in lesson.evidence)
    ]


def example_lessons(sessions: Sequence[TrainedSession], project: str) -> list[Lesson]:
    """The examples of all sessions; calls that are the same in several of them become one."""
    found: dict[str, Lesson] = {}
    for session in sorted(sessions, key=lambda each: (each.session.started_at or 0.0, each.key)):
        for lesson in _of_one(session, project):
            before = found.get(lesson.id)
            found[lesson.id] = lesson if before is None else _joined(before, lesson)
    return sorted(found.values(), key=lambda lesson: (-lesson.score, lesson.id))


def _of_one(trained: TrainedSession, project: str) -> Iterator[Lesson]:
    left = {(call.line, call.call_id): (call, result) for call, result in pair_calls_with_results(trained.left)}
    kept = set(trained.kept)
    mending = {
        record.seq + record.recovered_in
        for _, record in trained.calls
        if record.recovered_in and record.cause != "finding" and record.seq in kept
    }
    for made, record in trained.calls:
        if record.seq not in kept or record.status not in ("ok", "empty") or made.kind in _LOOKING:
            continue
        call, result = left[made.line, made.call_id]
        arguments = _arguments(trained, call.input) if call.input == made.input else {}
        shown = _result(trained, result.text) if result is not None else ""
        purpose = understand(command_text(call.input)).purpose if call.kind == "shell" else ""
        if arguments and shown and purpose not in _LOOKING:
            example = Example(call.tool, arguments, shown, call.kind, trained.session.agent)
            yield _lesson(trained, made, record.seq, example, purpose, project, record.seq in mending)


def _arguments(trained: TrainedSession, given: dict[str, Any]) -> dict[str, Any]:
    """Arguments whose paths begin at the project; empty where they are unfit for another session."""
    text = trained.relative(msgspec.json.encode(given).decode())
    if len(text) > _ARGUMENTS or junk_reason(text) or order_reason(text) or danger_reason(text):
        return {}
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except msgspec.MsgspecError:  # a path was taken off where it was no path
        return {}


def _result(trained: TrainedSession, text: str) -> str:
    """A result as it may be shown: empty where it is, or where it reads like an instruction."""
    shown = _ESCAPES.sub("", trained.relative(text)).strip()
    return "" if len(shown) > 2 * RESULT_LENGTH or order_reason(shown.replace("\n", " ")) else shown[:RESULT_LENGTH]


def _lesson(
    trained: TrainedSession, made: ToolCall, seq: int, example: Example, purpose: str, project: str, mends: bool
) -> Lesson:
    shell = command_text(example.arguments) if example.kind == "shell" else ""
    form = command_form(shell) if shell else ""
    scope = Scope(trained.session.agent, project, example.tool)
    same = msgspec.json.encode(example.arguments, order="sorted").decode()
    shown = f"`{one_line(shell)}`" if shell else f"`{example.tool}` with `{one_line(same)}`"
    return Lesson(
        id=lesson_id("example", scope, same),
        kind="example",
        scope=scope,
        topic=purpose or example.kind,
        text=f"{shown} worked in training{', where a call before it had failed' if mends else ''}.",
        use=shell,
        forms=(form or example.tool,),
        example=example,
        support=Support(1, 1),
        first_seen=made.at,
        last_seen=made.at,
        half_life=_HALF_LIFE,
        evidence=(Evidence(trained.key, seq, made.at, text=one_line(shell or same)),),
        score=_MENDS if mends else _CHECKS if purpose in CHECKS else _OTHER,
    )


def _joined(one: Lesson, other: Lesson) -> Lesson:
    """The same call twice: the first stands, both count."""
    evidence = (*one.evidence, *other.evidence)
    return msgspec.structs.replace(
        one,
        support=Support(len(evidence), len({each.session for each in evidence})),
        last_seen=max((at for at in (one.last_seen, other.last_seen) if at is not None), default=None),
        evidence=evidence,
        score=max(one.score, other.score),
    )
