"""Joins lessons that say the same: the better supported one stays and takes over the evidence of the other. Knows no learner.

Two lessons are near-duplicates if kind, topic and scope are the same and they either recommend (warn of) the very same thing
or read nearly the same while naming the same things.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from difflib import SequenceMatcher

import msgspec

from preheat.model.lesson import Evidence, Lesson, Support, select_evidence

SIMILAR = 0.85
_NUMBER = re.compile(r"\d+")
_OUT_OF_PLAY = frozenset(["retired", "quarantined"])
"""What a person or the judge of instructions has put aside is not joined with anything."""


def join_duplicates(lessons: Iterable[Lesson]) -> list[Lesson]:
    """The lessons with near-duplicates joined, ordered by id."""
    groups: defaultdict[tuple[str, ...], list[Lesson]] = defaultdict(list)
    kept: list[Lesson] = []
    for lesson in lessons:
        if lesson.status in _OUT_OF_PLAY:
            kept.append(lesson)
        else:
            scope = lesson.scope
            groups[lesson.kind, lesson.topic, scope.agent, scope.project, scope.tool].append(lesson)
    for group in groups.values():
        kept += _distinct(sorted(group, key=support_rank))
    return sorted(kept, key=lambda lesson: lesson.id)


def support_rank(lesson: Lesson) -> tuple[bool, bool, float, int, int, str]:
    """Sorts the better supported first."""
    support = lesson.support
    return (
        not lesson.pinned,
        lesson.status != "active",
        -support.confidence,
        -support.sessions_for,
        -support.calls_for,
        lesson.id,
    )


def join_lessons(one: Lesson, other: Lesson) -> Lesson:
    """`one` with what `other` rests on; calls that both rest on count once, as far as both show them."""
    shared = {_call_of(each) for each in one.evidence} & {_call_of(each) for each in other.evidence}
    evidence = {_call_of(each): each for each in (*other.evidence, *one.evidence)}
    against = sum(1 for place in shared if place[2])
    first = [at for at in (one.first_seen, other.first_seen) if at is not None]
    last = [at for at in (one.last_seen, other.last_seen) if at is not None]
    # Without a call in common their costs are of different failures.
    both = (one.cost_seconds, other.cost_seconds), (one.cost_tokens, other.cost_tokens)
    seconds, tokens = (max(both[0]), max(both[1])) if shared else (sum(both[0]), sum(both[1]))
    return msgspec.structs.replace(
        one,
        support=_join_support(one.support, other.support, len(shared) - against, against, evidence.values()),
        evidence=select_evidence(evidence.values()),
        signatures=tuple(dict.fromkeys((*one.signatures, *other.signatures))),
        forms=tuple(dict.fromkeys((*one.forms, *other.forms))),
        first_seen=min(first, default=None),
        last_seen=max(last, default=None),
        cost_seconds=seconds,
        cost_tokens=tokens,
    )


def _distinct(ranked: list[Lesson]) -> list[Lesson]:
    kept: list[Lesson] = []
    for lesson in ranked:
        twin = next((place for place, other in enumerate(kept) if are_alike(other, lesson)), None)
        if twin is None:
            kept.append(lesson)
        else:
            kept[twin] = join_lessons(kept[twin], lesson)
    return kept


def are_alike(one: Lesson, other: Lesson) -> bool:
    """Whether two lessons of one kind, topic and scope say the same."""
    if one.use != other.use or one.avoid != other.avoid or one.files != other.files:
        return False
    if one.kind in ("sequence", "example") and (one.steps, one.forms) != (other.steps, other.forms):
        return False
    if one.use and one.error == other.error:
        return True
    return _are_similar(_NUMBER.sub("0", one.error or one.text), _NUMBER.sub("0", other.error or other.text))


def _are_similar(one: str, other: str) -> bool:
    if one == other:
        return True
    if 2 * min(len(one), len(other)) < SIMILAR * (len(one) + len(other)):
        return False
    first, second = sorted((one, other))  # the ratio is not the same both ways
    matcher = SequenceMatcher(None, first, second, autojunk=False)
    return matcher.quick_ratio() >= SIMILAR and matcher.ratio() >= SIMILAR


def _call_of(each: Evidence) -> tuple[str, int, bool]:
    return (each.session, -1 if each.seq is None else each.seq, each.against)


def _join_support(one: Support, other: Support, shared: int, against: int, evidence: Iterable[Evidence]) -> Support:
    sessions: tuple[set[str], set[str]] = (set(), set())
    for each in evidence:
        sessions[each.against].add(each.session)
    return Support(
        one.calls_for + other.calls_for - min(shared, other.calls_for),
        max(one.sessions_for, other.sessions_for, len(sessions[0])),
        one.calls_against + other.calls_against - min(against, other.calls_against),
        max(one.sessions_against, other.sessions_against, len(sessions[1])),
    )
