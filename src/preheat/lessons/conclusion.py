"""Concluding: from the notes of a project's sessions to its lessons. Pure: the same notes give the same lessons, in any order.

One machine calls these functions on the notes in its archive, a fleet on the notes in its tables. Knows neither.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from preheat.lessons.learner import Learner, SessionNotes
from preheat.lessons.learners import LEARNERS, revise_lessons
from preheat.model.experiment import ExposureEffect
from preheat.model.lesson import Lesson

ALL_PROJECTS = ""
"""The name of the project that stands for all projects."""


def list_projects(learner: Learner, project: str) -> list[str]:
    """The projects in which the notes of a session of this project count; sessions without one teach only general lessons."""
    if learner.is_general:
        return sorted({project, ALL_PROJECTS})
    return [project] if project != ALL_PROJECTS else []


def sort_notes(found: Iterable[SessionNotes[Any]]) -> list[SessionNotes[Any]]:
    """Notes in time order; sessions without a time come first."""
    return sorted(found, key=lambda each: (each.started_at or 0.0, each.session))


def conclude(learner: Learner, project: str, notes: Iterable[SessionNotes[Any]]) -> list[Lesson]:
    """What a learner concludes for a project from the notes of its sessions."""
    return learner.learn(project, sort_notes(notes)) if learner.learn is not None else []


def weigh(
    concluded: Mapping[str, Sequence[Lesson]],
    noted: Mapping[str, Iterable[SessionNotes[Any]]],
    effects: Iterable[ExposureEffect] = (),
) -> dict[str, list[Lesson]]:
    """The conclusions for a project, by learner, weighed against each other and against measured effects. `noted` has, by
    learner, the notes of the project's sessions. Lessons that are made only by weighing have the learner `""`."""
    in_order = sorted(concluded.items())
    learner_of = {lesson.id: name for name, some in in_order for lesson in some}
    needed = [learner.name for learner in LEARNERS if learner.revise is not None and learner.notes_type is not None]
    seen = {name: sort_notes(noted.get(name, ())) for name in needed}
    found: defaultdict[str, list[Lesson]] = defaultdict(list)
    for lesson in revise_lessons([lesson for _, some in in_order for lesson in some], effects, seen):
        found[learner_of.get(lesson.id, "")].append(lesson)
    return dict(found)
