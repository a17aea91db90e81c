"""ScoreArtifacts: chooses examples (`lessons.examples`), says what every lesson is worth, and prunes what is weak.

    score = confidence x worth x reach, each 0 to 1

- confidence: the lower end of Wilson's interval of the share that speaks for it (`Support.confidence`). A resume packet is
  a state, not a claim: 1. What a person said themselves counts at least 0.5 however rarely they said it.
- worth: what an agent cannot find out cheaply. By kind (`WORTH`), and more where the failures it is about were dear:
  `worth = base + (1 - base) x min(1, log(1 + cost) / log(1 + DEAR))`, cost in tokens, a second counted as `SECOND` tokens.
- reach: `n / (n + 1)` of the n sessions that speak for it; a resume packet has 1.

Near-duplicates are joined (`lessons.duplicates`). A lesson whose confidence is below `FLOOR` is weak: it fails too often, or
too little is known. Knows nothing of tasks, of age or of budgets: those belong to the moment of handing out.
"""

from collections.abc import Sequence
from math import log1p
from typing import Any

import msgspec

from preheat.amounts import format_count
from preheat.lessons import examples
from preheat.lessons.duplicates import join_duplicates
from preheat.lessons.learner import Learner, SessionNotes
from preheat.model.lesson import Lesson, LessonKind

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
_WORTH_SAID, _CONFIDENCE_SAID, _WORTH_STYLE = 0.9, 0.5, 0.2
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
        confidence = max(confidence, _CONFIDENCE_SAID)
    base = _WORTH_SAID if is_correction else _WORTH_STYLE if lesson.topic == STYLE_TOPIC else WORTH[lesson.kind]
    cost = max(0.0, lesson.cost_tokens + TOKENS_PER_SECOND * lesson.cost_seconds)
    worth = base + (1 - base) * min(1.0, log1p(cost) / log1p(FULL_COST))
    return round(confidence * worth * reach, 4)


def score_lessons(lessons: list[Lesson], noted: Sequence[SessionNotes[Any]] = ()) -> list[Lesson]:
    """The lessons with their scores, near-duplicates joined, and those with too little support marked as weak."""
    return [_with_score(lesson) for lesson in join_duplicates(lessons)]


def describe(lessons: Sequence[Lesson]) -> str:
    shown = [lesson for lesson in lessons if lesson.kind == "example" and lesson.status == "active"]
    tools = {lesson.scope.tool for lesson in shown}
    return (
        f"{format_count(len(shown), 'example')} of {format_count(len(tools), 'tool')}"
        if shown
        else "no call that several sessions made so"
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
