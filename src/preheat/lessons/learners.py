"""The ten learners in their order, and what happens to the lessons they conclude. Knows no archive.

Each learner takes notes of sessions one by one, then concludes over the notes of a project (see `learner.py`). A lesson that
gives orders or does harm is quarantined, whoever learned it: every field that may reach a model is looked at. What people said
themselves (a correction, the goal of a resume packet) may give orders. Then measured effects are applied, the lessons are
scored, and each is weighed against the others.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from preheat.commands.dangers import ruinous_part
from preheat.lessons.consolidation import CONSOLIDATE_EVENTS
from preheat.lessons.conventions import LEARN_CONVENTIONS
from preheat.lessons.dead_ends import BUILD_DEAD_END_MEMORY
from preheat.lessons.effectiveness import LEARN_EFFECTIVENESS, apply_effects
from preheat.lessons.errors import CLUSTER_ERRORS
from preheat.lessons.learner import Learner, SessionNotes
from preheat.lessons.repairs import LEARN_REPAIR_PATTERNS
from preheat.lessons.resume import BUILD_RESUME_PACKET
from preheat.lessons.scores import SCORE_ARTIFACTS
from preheat.lessons.sequences import LEARN_SEQUENCES
from preheat.lessons.working_set import UPDATE_WORKING_SET_RANKING
from preheat.model.experiment import ExposureEffect
from preheat.model.lesson import Lesson
from preheat.safe_text.cleanup import texts_in
from preheat.safe_text.reasons import danger_reason, hidden_reason

LEARNERS: tuple[Learner, ...] = (
    LEARN_EFFECTIVENESS,
    BUILD_RESUME_PACKET,
    LEARN_SEQUENCES,
    CLUSTER_ERRORS,
    LEARN_REPAIR_PATTERNS,
    LEARN_CONVENTIONS,
    UPDATE_WORKING_SET_RANKING,
    BUILD_DEAD_END_MEMORY,
    SCORE_ARTIFACTS,
    CONSOLIDATE_EVENTS,
)


def revise_lessons(
    lessons: Sequence[Lesson], effects: Iterable[ExposureEffect], noted: Mapping[str, Sequence[SessionNotes[Any]]]
) -> list[Lesson]:
    """What the learners concluded for a project, weighed against what was measured and against each other; `noted` has, by
    learner, the notes of the project's sessions in time order."""
    found = apply_effects([quarantine_unfit(lesson) for lesson in lessons], effects)
    for learner in LEARNERS:
        if learner.revise is not None:
            found = learner.revise(found, noted.get(learner.name, ()))
    return found


# The last look at every lesson before it may be handed out
_PERSON_TOPICS = frozenset(["correction", "style"])
"""Topics of lessons that quote a person."""


def quarantine_unfit(lesson: Lesson) -> Lesson:
    """The lesson, quarantined if anything in it is unfit to be put before a model."""
    if lesson.status in ("quarantined", "retired"):
        return lesson
    why = next(filter(None, (hidden_reason(text) for text in _texts_to_read(lesson))), "") or next(
        filter(None, (danger_reason(text) for text in _texts_to_do(lesson))), ""
    )
    return msgspec.structs.replace(lesson, status="quarantined", why=why) if why else lesson


def _texts_to_read(lesson: Lesson) -> Iterator[str]:
    """The texts of a lesson that a model reads and that no person wrote."""
    if lesson.topic in _PERSON_TOPICS:
        return
    yield from (lesson.use, lesson.avoid, lesson.error, lesson.difference, lesson.recheck, lesson.topic)
    yield from (lesson.scope.tool, *lesson.steps, *lesson.files, *lesson.forms, *lesson.environment.values())
    packet, example = lesson.packet, lesson.example
    if packet is not None:
        yield from (packet.failing, packet.next_command, packet.branch, *packet.unverified, *packet.files)
        yield from packet.dead_ends
        yield from (text for check in packet.checks for text in (check.command, check.signature))
    else:
        yield lesson.text
    if example is not None:
        yield from (example.tool, *texts_in(example.arguments), " ".join(example.result.split()))


def _texts_to_do(lesson: Lesson) -> Iterator[str]:
    """The texts of a lesson that a model may run. File names are not among them."""
    if lesson.kind == "working_set":
        return
    if lesson.topic in _PERSON_TOPICS:  # `never git push --force` is worth telling
        yield ruinous_part(lesson.use)
        return
    yield from (lesson.use, lesson.recheck, lesson.difference, *lesson.steps)
    if lesson.packet is not None:
        yield from (lesson.packet.next_command, *(check.command for check in lesson.packet.checks))
    if lesson.example is not None:
        yield from texts_in(lesson.example.arguments)
    if not danger_reason(lesson.avoid) and lesson.packet is None:  # a warning names what it warns of
        yield lesson.text
