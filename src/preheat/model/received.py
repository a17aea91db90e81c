"""Lessons that came from others: through a file in the repository, or from a team's server. Frozen values; nothing here decides.

They stand beside the lessons of this machine and below what its person said (`lesson_meaning`).
"""

from typing import Literal, NamedTuple, TypeAlias

from preheat.model.lesson import Lesson, Origin


class ReceivedLesson(NamedTuple):
    """A lesson of somebody else that a person of this machine, or a reviewer of the team, trusted."""

    lesson: Lesson
    """In our own words and slots, without evidence of single calls; its `origin` says how it came."""
    origin: Origin
    place: str
    """What it came from: of a file in a repository the clone (`shared_file.find_clone`), of a team the name of the team."""
    digest: str
    """The hash of the content that was trusted: of the whole file, or of the lesson as the server has it."""
    project: str = ""
    """The key of its project on this machine; empty where no session of it is known yet."""
    trusted_by: str = ""
    """Who trusted it: `you`, or a role of the team; never a person's name unless the team shows names."""
    at: float = 0.0
    """When it was trusted."""


class TrustedFile(NamedTuple):
    """A version of a repository's file of lessons that a person trusted in one clone."""

    clone: str
    digest: str
    """SHA-256 of its bytes."""
    root: str
    """The working tree in which it was trusted last."""
    content: bytes
    at: float = 0.0


Kept: TypeAlias = Literal["ours", "theirs"]


class LessonConflict(NamedTuple):
    """A lesson of this machine and one of others of which only one can be right."""

    ours: Lesson
    theirs: Lesson
    kept: Kept
    """Which of the two is handed out."""
    why: str
    """Why that one, for a person."""
