"""ScoreArtifacts: chooses examples (`lessons.examples`), scores every lesson, joins near-duplicates and marks weak lessons.

    score = confidence x worth x reach, each 0 to 1

- confidence: the lower end of Wilson's interval of the share that speaks for the lesson (`Support.confidence`). A resume packet
  is a state, not a claim: 1. What a person said counts at least 0.5 however rarely they said it.
- worth: what an agent cannot find out cheaply. By kind (`WORTH`), and more where the failures it is about were expensive:
  `worth = base + (1 - base) x min(1, log(1 + cost) / log(1 + FULL_COST))`, cost in tokens, a second counted as
  `TOKENS_PER_SECOND` tokens.
- reach: `n / (n + 1)` of the n sessions that speak for it; a resume packet has 1.

A lesson whose confidence is below `LEAST_CONFIDENCE` is weak. Knows nothing of tasks, of age or of budgets.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from math import log1p
from typing import Any

import msgspec

from preheat.amounts import format_count
from preheat.lessons import examples
from preheat.lessons.learner import Learner, SessionNotes
from preheat.model.lesson import Evidence, Lesson, LessonKind, Support, select_evidence

# Joins lessons that say the same
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
    details = one.details
    if "passed" in details:
        passed = int(details["passed"]) + int(other.details.get("passed", "0"))
        details = details | {"passed": str(passed)}
    return msgspec.structs.replace(
        one,
        details=details,
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


# Scores
WORTH: dict[LessonKind, float] = {
    "resume": 0.9,
    "convention": 0.7,
    "repair": 0.7,
    "dead_end": 0.6,
    "example": 0.5,
    "error": 0.4,
    "sequence": 0.35,
    "working_set": 0.3,
}
"""A repair is worth more than an error: it says what to do. Where files lie can be found with a search."""
CORRECTION_TOPIC, STYLE_TOPIC = "correction", "style"
"""Topics of lessons about what a person said, and about how the person writes."""
_CORRECTION_WORTH, _CORRECTION_CONFIDENCE, _STYLE_WORTH = 0.9, 0.5, 0.2
FULL_COST = 100_000
"""Tokens of failures at which worth is whole."""
TOKENS_PER_SECOND = 30
"""Tokens that a lost second counts as: about what a model writes in one."""
LEAST_CONFIDENCE = 0.2
"""Once of once (0.21) is above it, once of twice is not."""
_CLAIMS = frozenset(["convention", "repair", "dead_end", "example"])
"""Kinds of lessons that can be wrong: the support for and against them shows how often."""


def score_lesson(lesson: Lesson) -> float:
    """What a lesson is worth by itself."""
    is_correction = lesson.topic == CORRECTION_TOPIC
    confidence, sessions = lesson.support.confidence, lesson.support.sessions_for
    reach = sessions / (sessions + 1)
    if lesson.kind == "resume":
        confidence = reach = 1.0
    if is_correction and lesson.support.calls_for:
        confidence = max(confidence, _CORRECTION_CONFIDENCE)
    base = _CORRECTION_WORTH if is_correction else _STYLE_WORTH if lesson.topic == STYLE_TOPIC else WORTH[lesson.kind]
    cost = max(0.0, lesson.cost_tokens + TOKENS_PER_SECOND * lesson.cost_seconds)
    worth = base + (1 - base) * min(1.0, log1p(cost) / log1p(FULL_COST))
    return round(confidence * worth * reach, 4)


def score_lessons(lessons: list[Lesson], noted: Sequence[SessionNotes[Any]] = ()) -> list[Lesson]:
    """The lessons with their scores, near-duplicates joined, and those with too little support marked as weak."""
    return [_with_score(lesson) for lesson in join_duplicates(lessons)]


def describe(lessons: Sequence[Lesson]) -> str:
    """One line on the examples."""
    shown = [lesson for lesson in lessons if lesson.kind == "example" and lesson.status == "active"]
    tools = {lesson.scope.tool for lesson in shown}
    return (
        f"{format_count(len(shown), 'example')} of {format_count(len(tools), 'tool')}"
        if shown
        else "no call that several sessions made alike"
    )


def _with_score(lesson: Lesson) -> Lesson:
    lesson = msgspec.structs.replace(lesson, score=score_lesson(lesson))
    claims = lesson.kind in _CLAIMS and lesson.topic != CORRECTION_TOPIC
    if lesson.status != "active" or lesson.pinned or not claims or lesson.support.confidence >= LEAST_CONFIDENCE:
        return lesson
    support = lesson.support
    total = support.calls_for + support.calls_against
    why = f"held {support.calls_for} of {total} times: confidence {support.confidence:.2f} is below {LEAST_CONFIDENCE:.2f}"
    return msgspec.structs.replace(lesson, status="weak", why=why)


SCORE_ARTIFACTS = Learner(
    "ScoreArtifacts",
    2,
    examples.ExampleNotes,
    examples.take_notes,
    examples.learn,
    revise=score_lessons,
    describe=describe,
)
