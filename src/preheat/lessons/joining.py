"""Joins repairs that have the tool and the remedy in common and differ in the error message. Knows no session.

`Edit` complains in three ways of a file that was not read; the remedy is the same, so it becomes one lesson.
"""

from collections import defaultdict
from collections.abc import Sequence

import msgspec

from preheat.model.lesson import Lesson, Support, select_evidence
from preheat.safe_text.letters import one_line

_ERRORS, _LONGEST = 3, 60
"""Error messages that are quoted, and characters of each."""


def join_repairs(lessons: Sequence[Lesson]) -> list[Lesson]:
    """Active repairs of one tool by the same remedy become one, under the first of their ids. Commands are left alone: what
    mends one of them mends no other."""
    groups: defaultdict[tuple[str, ...], list[Lesson]] = defaultdict(list)
    for lesson in lessons:
        if lesson.kind == "repair" and lesson.status == "active" and lesson.topic != "shell" and lesson.difference:
            scope = lesson.scope
            groups[scope.project, scope.agent, scope.tool, lesson.topic, lesson.difference, lesson.use].append(lesson)
    joined: dict[str, Lesson] = {}
    merged: set[str] = set()
    for group in groups.values():
        if len(group) > 1 and not any(lesson.pinned for lesson in group):
            ordered = sorted(group, key=lambda lesson: lesson.id)
            joined[ordered[0].id] = _join_group(ordered)
            merged |= {lesson.id for lesson in ordered[1:]}
    return [joined.get(lesson.id, lesson) for lesson in lessons if lesson.id not in merged]


def _join_group(group: Sequence[Lesson]) -> Lesson:
    first = group[0]
    common = sorted(group, key=lambda lesson: (-lesson.support.calls_for, lesson.id))
    errors = list(dict.fromkeys(one_line(lesson.error, _LONGEST) for lesson in common if lesson.error))
    evidence = [each for lesson in group for each in lesson.evidence]
    sessions = {each.session for each in evidence if not each.against}
    support = Support(
        calls_for=sum(lesson.support.calls_for for lesson in group),
        sessions_for=max(len(sessions), *(lesson.support.sessions_for for lesson in group)),
        calls_against=sum(lesson.support.calls_against for lesson in group),
        sessions_against=max(lesson.support.sessions_against for lesson in group),
    )
    moments = [lesson.first_seen for lesson in group if lesson.first_seen is not None]
    named = ", ".join(f"`{error}`" for error in errors[:_ERRORS])
    total = support.calls_for + support.calls_against
    return msgspec.structs.replace(
        first,
        text=f"`{first.scope.tool or first.topic}` fails with {named}; {first.difference} it works "
        f"({support.calls_for} of {total} times).",
        error=errors[0] if errors else first.error,
        signatures=tuple(dict.fromkeys(each for lesson in common for each in lesson.signatures)),
        forms=tuple(dict.fromkeys(each for lesson in common for each in lesson.forms)),
        files=tuple(dict.fromkeys(each for lesson in common for each in lesson.files)),
        support=support,
        first_seen=min(moments, default=None),
        last_seen=max((lesson.last_seen for lesson in group if lesson.last_seen is not None), default=None),
        evidence=select_evidence(evidence),
        cost_seconds=sum(lesson.cost_seconds for lesson in group),
        cost_tokens=sum(lesson.cost_tokens for lesson in group),
        score=max(lesson.score for lesson in group),
    )
