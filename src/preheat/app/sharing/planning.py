"""What the next version of a clone's file has: the lessons of this machine that its person approved, beside what is there."""

import time
from collections.abc import Mapping
from contextlib import closing
from typing import NamedTuple

from preheat.app.sharing.reading import read_lessons
from preheat.archive.connect import connect
from preheat.archive.lessons import load_lessons
from preheat.ingest.redact import looks_secret
from preheat.model.lesson import Lesson, LessonMark
from preheat.provisioning.lesson_text import describe_lesson
from preheat.sharing.document import SharePlan, plan_document
from preheat.sharing.entry import SharedLesson, fit_lesson, restore_lesson
from preheat.sharing.faults import find_faults
from preheat.state.connect import reading
from preheat.state.marks import approvals, marks
from preheat.state.written_lessons import reviews


class LeftLesson(NamedTuple):
    """A lesson that is not shared."""

    lesson: str
    text: str
    """As a session is told it."""
    why: str


class PlannedFile(NamedTuple):
    """The next version of a file, and what is not in it."""

    plan: SharePlan
    left_out: tuple[LeftLesson, ...]
    """Approved lessons that may not leave this machine."""
    unapproved: tuple[LeftLesson, ...]
    """Lessons that could be shared, if a person approved them."""


class _Decisions(NamedTuple):
    """What a person decided of lessons."""

    approved: frozenset[str]
    marks: Mapping[str, LessonMark]

    def is_approved(self, lesson: Lesson) -> bool:
        return lesson.author == "person" or lesson.pinned or lesson.id in self.approved

    def is_retired(self, lesson: Lesson) -> bool:
        mark = self.marks.get(lesson.id)
        return mark is not None and mark.mark == "retired"


def plan_file(folder: str, data: bytes, project: str, root: str) -> PlannedFile:
    """Plan the next version of a file with these bytes."""
    now = time.time()
    document, checked = read_lessons(data, project)
    usable = {lesson.id for lesson in checked.lessons}
    old = [entry for entry in document.entries if entry.id in usable]
    decisions = _load_decisions(folder)
    with closing(connect(folder)) as archive:
        known = [each for each in load_lessons(archive, (project,), root) if each.scope.project == project]
    ours: list[SharedLesson] = []
    left_out: list[LeftLesson] = []
    unapproved: list[LeftLesson] = []
    dropped = {name for name, mark in decisions.marks.items() if mark.mark == "retired"}
    there = {each.id for each in old}
    for lesson in known:
        if lesson.origin or lesson.packet is not None:
            continue
        fitted = fit_lesson(lesson, describe_lesson)
        faults = find_faults(fitted.entry, describe_lesson, now, looks_secret) if fitted.entry is not None else []
        if decisions.is_retired(lesson):
            dropped |= {fitted.entry.id} if fitted.entry is not None else set()
        elif not lesson.is_usable(now):
            continue
        elif not decisions.is_approved(lesson):
            if fitted.entry is not None and not faults and fitted.entry.id not in there:
                unapproved.append(_describe_left(lesson, "nobody approved it"))
        elif fitted.entry is None or faults:
            left_out.append(_describe_left(lesson, fitted.why or "; ".join(faults)))
        else:
            ours.append(fitted.entry)
    return PlannedFile(plan_document(old, ours, frozenset(dropped)), tuple(left_out), tuple(unapproved))


def _load_decisions(folder: str) -> _Decisions:
    with reading(folder) as state:
        kept = (lesson for lesson, verdict in reviews(state).items() if verdict != "dropped")
        return _Decisions(frozenset([*approvals(state), *kept]), marks(state))


def _describe_left(lesson: Lesson, why: str) -> LeftLesson:
    return LeftLesson(lesson.id, describe_lesson(lesson) or lesson.text, why)


def say_entry(entry: SharedLesson, project: str) -> str:
    """What a session is told of an entry."""
    lesson = restore_lesson(entry, describe_lesson, project)
    return lesson.text if lesson is not None else ""
