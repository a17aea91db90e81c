"""What was learned, and what a person said of it: listed, pinned, retired.

Knows nothing of how lessons are learned (`app.learning.learning`) or handed out (`app.context.provisioning`).
"""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from preheat.amounts import counted
from preheat.app.experiments.withdrawal import bring_back
from preheat.app.projects import project_named
from preheat.archive import lessons as kept
from preheat.archive.connect import connect
from preheat.errors import NotFound, UserError
from preheat.model.lesson import Approval, Lesson, Mark, Marked
from preheat.state import approvals, marks
from preheat.state.connect import reading, writing

__all__ = ["Lessons", "Mark", "Marked", "MarkedLesson"]


class MarkedLesson(NamedTuple):
    """A lesson, after a person said something of it."""

    lesson: Lesson
    was_marked: bool
    """Whether something was said of it before."""


class Lessons:
    """The lessons in the archive of a folder."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def lessons(self, project: str | None = None) -> list[Lesson]:
        """What was learned, the best first: everywhere, or of a project (name or folder) with what holds anywhere."""
        with self._opened() as connection:
            names = None if project is None else ("", project_named(connection, project))
            return kept.lessons(connection, names)

    def find(self, name: str) -> Lesson:
        """One by its id or the beginning of it. Raises NotFound."""
        with self._opened() as connection:
            return _find(connection, name)

    # What a person said of them.
    def marks(self) -> dict[str, Marked]:
        """By lesson, what a person said of it."""
        with reading(self._folder) as state:
            return marks.marks(state)

    def mark(self, name: str, mark: Mark | None, why: str = "") -> MarkedLesson:
        """Pin or retire a lesson by its id or the beginning of it; None takes that back. Unless it is retired, one that was
        withdrawn by measurement is brought back. Raises NotFound."""
        found = self.find(name)
        if mark == "pinned" and found.status == "quarantined":
            raise UserError(
                f"`{found.id}` is quarantined ({found.why}) and cannot be pinned; `preheat lessons show {found.id}`"
            )
        before = self.marks().get(found.id)
        with writing(self._folder) as state:
            marks.mark(state, found.id, mark, why, time.time())
        if mark != "retired":
            bring_back(self._folder, found.id)
        return MarkedLesson(self.find(found.id), before is not None)

    def approvals(self) -> dict[str, Approval]:
        """By lesson, what a person read and approved."""
        with reading(self._folder) as state:
            return approvals.approvals(state)

    def approve(self, approval: Approval) -> None:
        """Keep that a person approved a lesson."""
        with writing(self._folder) as state:
            approvals.approve(state, approval)

    def withdraw_approval(self, lesson: str) -> bool:
        """Take an approval back; whether there was one."""
        with writing(self._folder) as state:
            return approvals.withdraw_approval(state, lesson)

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        connection = connect(self._folder)
        try:
            yield connection
        finally:
            connection.close()


def _find(connection: sqlite3.Connection, name: str) -> Lesson:
    found = [each for each in kept.lessons(connection) if each.id.startswith(name)]
    exact = [each for each in found if each.id == name]
    if len(exact or found) == 1:
        return (exact or found)[0]
    if found:
        raise NotFound(f"`{name}` begins {counted(len(found), 'lesson')}: {', '.join(each.id for each in found[:6])}")
    raise NotFound(f"no lesson `{name}`; `preheat lessons list --all` shows them with their ids")
