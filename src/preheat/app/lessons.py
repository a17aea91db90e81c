"""What was learned, and what a person said of it: listed, pinned, retired.

Knows nothing of how lessons are learned (`app.learning`) or handed out (`app.context`).
"""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager

from preheat.app.projects import project_named
from preheat.app.withdrawal import bring_back
from preheat.archive import lessons as kept
from preheat.archive.connect import connect
from preheat.errors import NotFound, UserError
from preheat.model.lesson import Approval, Lesson, Mark, Marked
from preheat.state import approvals, marks
from preheat.state.connect import reading, writing


class Lessons:
    """The lessons in the archive of a folder."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def lessons(self, project: str | None = None) -> list[Lesson]:
        """What was learned, the best first: everywhere, or of a project (name or folder) with what holds anywhere."""
        with self._opened() as connection:
            names = None if project is None else ("", project_named(connection, project))
            return kept.lessons(connection, names)

    # What a person said of them.
    def marks(self) -> dict[str, Marked]:
        """By lesson, what a person said of it."""
        with reading(self._folder) as state:
            return marks.marks(state)

    def mark(self, lesson: str, mark: Mark | None, why: str = "") -> None:
        """Pin or retire a lesson by its id; None takes that back. One that was withdrawn by measurement is brought back unless
        it is retired. Raises NotFound."""
        with self._opened() as connection:
            found = next((each for each in kept.lessons(connection) if each.id == lesson), None)
            if found is None:
                raise NotFound(f"no lesson `{lesson}`; `lessons()` has them with their ids")
            if mark == "pinned" and found.status == "quarantined":
                raise UserError(f"`{lesson}` is quarantined ({found.why}) and cannot be pinned")
        with writing(self._folder) as state:
            marks.mark(state, lesson, mark, why, time.time())
        if mark != "retired":
            bring_back(self._folder, lesson)

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
