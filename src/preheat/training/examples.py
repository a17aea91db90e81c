"""Examples out of what compressing left of a training: real calls that worked, with their results. Pure; knows no agent.

A call comes in as it was made or not at all: arguments that were cut, or that mean nothing elsewhere, make it unfit.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from preheat.calls.form import command_form
from preheat.commands import CHECKS, text_of, understand
from preheat.compress import Compressed
from preheat.lessons.seen import Seen, SeenCall
from preheat.model.lesson import Evidence, Example, Lesson, Scope, Support, lesson_id
from preheat.model.session import joined
from preheat.safe_text.letters import ESCAPES, one_line
from preheat.safe_text.reasons import dangerous, junk, orders

RESULT = 800
"""Characters of a result, of which the strategy may leave fewer."""
_ARGUMENTS = 800
_HALF_LIFE = 90.0
_LOOKING = frozenset(["read", "list", "search"])
_MENDS, _CHECKS, _OTHER = 0.7, 0.6, 0.4
"""What an example is worth by itself: one that puts a mistake right, one that says how the work is checked, any other."""
_ESCAPES = re.compile(ESCAPES.pattern + r"|\r(?=\n)")


class Trained(NamedTuple):
    """One session of a training, and what compressing left of it."""

    seen: Seen
    compressed: Compressed


def examples(sessions: list[Trained], project: str) -> list[Lesson]:
    """The examples of all sessions; calls that are the same in several of them become one."""
    found: dict[str, Lesson] = {}
    for session in sorted(sessions, key=lambda each: (each.seen.session.started_at or 0.0, each.seen.key)):
        for lesson in _of_one(session, project):
            before = found.get(lesson.id)
            found[lesson.id] = lesson if before is None else _joined(before, lesson)
    return sorted(found.values(), key=lambda lesson: (-lesson.score, lesson.id))


def _of_one(session: Trained, project: str) -> Iterator[Lesson]:
    left = {(call.line, call.call_id): (call, result) for call, result in joined(session.compressed.session)}
    kept = set(session.compressed.calls)
    mending = {
        each.record.seq + each.record.recovered_in
        for each in session.seen.calls
        if each.record.recovered_in and each.record.cause != "finding" and each.record.seq in kept
    }
    for each in session.seen.calls:
        if each.record.seq not in kept or not each.worked or each.call.kind in _LOOKING:
            continue
        call, result = left[each.call.line, each.call.call_id]
        arguments = _arguments(session.seen, call.input) if call.input == each.call.input else {}
        shown = _result(session.seen, result.text) if result is not None else ""
        purpose = understand(text_of(call.input)).purpose if call.kind == "shell" else ""
        if arguments and shown and purpose not in _LOOKING:
            yield _lesson(
                session.seen, each, Example(call.tool, arguments, shown, call.kind), purpose, project, mending
            )


def _arguments(seen: Seen, given: dict[str, Any]) -> dict[str, Any]:
    """Arguments whose paths begin at the project; empty where they are unfit for another session."""
    text = seen.relative(msgspec.json.encode(given).decode())
    if len(text) > _ARGUMENTS or junk(text) or orders(text) or dangerous(text):
        return {}
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except msgspec.MsgspecError:  # a path was taken off where it was no path
        return {}


def _result(seen: Seen, text: str) -> str:
    """A result as it may be shown: empty where it is, or where it reads like an instruction."""
    shown = _ESCAPES.sub("", seen.relative(text)).strip()
    return "" if len(shown) > 2 * RESULT or orders(shown.replace("\n", " ")) else shown[:RESULT]


def _lesson(seen: Seen, each: SeenCall, example: Example, purpose: str, project: str, mending: set[int]) -> Lesson:
    shell = text_of(example.arguments) if example.kind == "shell" else ""
    form = command_form(shell) if shell else ""
    scope = Scope(seen.session.agent, project, example.tool)
    same = msgspec.json.encode(example.arguments, order="sorted").decode()
    shown = f"`{one_line(shell)}`" if shell else f"`{example.tool}` with `{one_line(same)}`"
    mends = each.record.seq in mending
    return Lesson(
        id=lesson_id("example", scope, same),
        kind="example",
        scope=scope,
        topic=purpose or example.kind,
        text=f"{shown} worked in training{', where a call before it had failed' if mends else ''}.",
        use=shell,
        forms=(form or example.tool,),
        example=msgspec.structs.replace(example, agent=seen.session.agent),
        support=Support(1, 1),
        first_seen=each.call.at,
        last_seen=each.call.at,
        half_life=_HALF_LIFE,
        evidence=(Evidence(seen.key, each.record.seq, each.call.at, text=one_line(shell or same)),),
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
