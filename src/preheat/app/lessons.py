"""The lessons, and the marks and approvals of people: listed, pinned, retired, approved.

Knows nothing of how lessons are learned (`app.learning`) or handed out (`app.context`).
"""

import sqlite3
import time
from contextlib import closing
from typing import NamedTuple

from preheat.amounts import format_count
from preheat.app.context import approved_texts, load_folder_facts
from preheat.app.experiments.withdrawal import bring_back
from preheat.app.facts import Contradiction, contradictions
from preheat.app.projects import require_project
from preheat.archive import lessons as stored
from preheat.archive.connect import connect
from preheat.errors import NotFound, UserError
from preheat.model.lesson import Approval, Lesson, LessonMark, MarkKind
from preheat.state import marks
from preheat.state.connect import reading, writing

__all__ = ["LessonMark", "Lessons", "MarkKind", "MarkedLesson"]


class MarkedLesson(NamedTuple):
    """A lesson after a person marked it."""

    lesson: Lesson
    was_marked: bool
    """Whether it had a mark before."""


class Lessons:
    """The lessons in the archive of a folder."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def lessons(self, project: str | None = None) -> list[Lesson]:
        """Lessons, the best first: all, or those of a project (name or folder) and the general ones."""
        with closing(connect(self._folder)) as connection:
            names = None if project is None else ("", require_project(connection, project))
            return stored.load_lessons(connection, names)

    def find(self, name: str) -> Lesson:
        """A lesson by its id or the beginning of it. Raises NotFound."""
        with closing(connect(self._folder)) as connection:
            return _find(connection, name)

    # Marks and approvals.
    def marks(self) -> dict[str, LessonMark]:
        """The mark of each lesson that has one, by its id."""
        with reading(self._folder) as state:
            return marks.marks(state)

    def mark(self, name: str, mark: MarkKind | None, why: str = "") -> MarkedLesson:
        """Pin or retire a lesson by its id or the beginning of it; None removes the mark. Unless it is retired, a lesson that an
        experiment withdrew is brought back. Raises NotFound."""
        found = self.find(name)
        if mark == "pinned" and found.status == "quarantined":
            raise UserError(
                f"`{found.id}` is quarantined ({found.why}) and cannot be pinned; `preheat lessons show {found.id}`"
            )
        before = self.marks().get(found.id)
        with writing(self._folder) as state:
            marks.set_mark(state, found.id, mark, why, time.time())
        if mark != "retired":
            bring_back(self._folder, found.id)
        return MarkedLesson(self.find(found.id), before is not None)

    def approvals(self) -> dict[str, Approval]:
        """The approval of each lesson that has one, by its id."""
        with reading(self._folder) as state:
            return marks.approvals(state)

    def approve(self, approval: Approval) -> None:
        """Store a person's approval of a lesson."""
        with writing(self._folder) as state:
            marks.approve(state, approval)

    def approved_texts(self) -> frozenset[str]:
        """The digests (`text_digest`) of the texts that a person approved: these are handed on as they stand."""
        return approved_texts(self._folder)

    def facts(self, where: str, agent: str = "") -> list[Lesson]:
        """The lessons and facts of the project around a folder: what sessions taught and what its files say, joined; with an
        agent without what that reads by itself. Raises PreheatError."""
        return load_folder_facts(self._folder, where, (agent,) if agent else ()).for_agent(agent)

    def contradictions(self, where: str) -> list[Contradiction]:
        """What the instruction files and the README of the project around a folder say otherwise than its tree and its sessions
        show: commands that fail or are gone, several package managers. Raises PreheatError."""
        known = load_folder_facts(self._folder, where)
        return contradictions(where, known.name, known.lessons)

    def withdraw_approval(self, lesson: str) -> bool:
        """Remove the approval of a lesson; whether there was one."""
        with writing(self._folder) as state:
            return marks.withdraw_approval(state, lesson)


def _find(connection: sqlite3.Connection, name: str) -> Lesson:
    found = [each for each in stored.load_lessons(connection) if each.id.startswith(name)]
    exact = [each for each in found if each.id == name]
    if len(exact or found) == 1:
        return (exact or found)[0]
    if found:
        raise NotFound(
            f"`{name}` begins {format_count(len(found), 'lesson')}: {', '.join(each.id for each in found[:6])}"
        )
    raise NotFound(f"no lesson `{name}`; `preheat lessons list --all` shows them with their ids")
