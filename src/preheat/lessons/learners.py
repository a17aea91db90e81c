"""The ten learners, in their order, and what comes after them. Knows no archive.

Each takes notes of sessions one by one, then concludes over the notes of a project (see `learner.py`). What they concluded
is looked at once more for what must not reach a model (`guard.py`), then weighed: measured effects first, then scores, then
each lesson against the others.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from preheat.lessons.artifacts import SCORE_ARTIFACTS
from preheat.lessons.consolidation import CONSOLIDATE_EVENTS
from preheat.lessons.conventions import LEARN_CONVENTIONS
from preheat.lessons.dead_ends import BUILD_DEAD_END_MEMORY
from preheat.lessons.effectiveness import LEARN_EFFECTIVENESS, apply_effects
from preheat.lessons.errors import CLUSTER_ERRORS
from preheat.lessons.guard import quarantine_unfit
from preheat.lessons.learner import Learner, SessionNotes
from preheat.lessons.repairs import LEARN_REPAIR_PATTERNS
from preheat.lessons.resume import BUILD_RESUME_PACKET
from preheat.lessons.sequences import LEARN_SEQUENCES
from preheat.lessons.working_set import UPDATE_WORKING_SET_RANKING
from preheat.model.exposure import ExposureEffect
from preheat.model.lesson import Lesson

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
