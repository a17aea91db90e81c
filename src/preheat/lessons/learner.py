"""What a learner is: two pure functions, and a type for what passes between them. Knows none of them.

A learner first takes notes of each session by itself (`take_notes`); the archive keeps them, so that a session is read once.
Then it concludes over the notes of all sessions of a project (`learn`), anew whenever one of them is new: the same notes
give the same lessons, in whichever order and however often it runs.
"""

from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from preheat.calls.judged import JudgedSession
from preheat.model.lesson import Lesson

Notes = TypeVar("Notes")


class SessionNotes(NamedTuple, Generic[Notes]):
    """The notes of one session, with what every learner wants to know of it."""

    session: str
    """Its key."""
    agent: str
    project: str
    started_at: float | None
    ended_at: float | None
    notes: Notes


class Learner(NamedTuple):
    """One of the ten learners."""

    name: str
    """As the user's documents call it: `LearnRepairPatterns`."""
    version: int
    """Raised when its notes or rules change."""
    notes_type: Any
    """The msgspec type of its notes; None for one that needs none."""
    take_notes: Callable[[JudgedSession], Any] | None
    """What it keeps of a session; None when there is nothing to keep."""
    learn: Callable[[str, Sequence[SessionNotes[Any]]], list[Lesson]] | None
    """By the project's name and the notes of its sessions in time order: what they teach. With the name `""` the notes are
    those of all projects, and only what holds in several of them is to be learned."""
    is_general: bool = False
    """Whether it also learns over all projects."""
    revise: Callable[[list[Lesson], Sequence[SessionNotes[Any]]], list[Lesson]] | None = None
    """Looks over the lessons of a project that all have learned, with its own notes of the project's sessions: scores,
    joins, drops."""
    describe: Callable[[Sequence[Lesson]], str] | None = None
    """One line on what it learned, made from its lessons."""
    is_reviewer: bool = False
    """It learns nothing by itself but weighs what the others did: its line is made from all lessons."""
