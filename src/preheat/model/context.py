"""The context that a new session is given: chosen lessons within a token budget, or the reason why it is empty.

Frozen values; choosing and rendering is in `provisioning`.
"""

import msgspec

from preheat.model.lesson import Example, LessonKind

TOKEN_BUDGET = 2000
"""Tokens. One agent moves hook texts over 2,500 tokens to a file, and more lessons lower success rather than raise it."""


class ContextLesson(msgspec.Struct, frozen=True, kw_only=True):
    """One lesson as it is handed out."""

    lesson: str
    """Its id."""
    kind: LessonKind
    topic: str = ""
    text: str
    """One line (a resume packet: a few) for the model to read."""
    example: Example | None = None
    """For message formats: a real call and its result."""
    tokens: int
    value: float
    why: str = ""
    """Why it was chosen, with its numbers: for people, not for the model."""
    pinned: bool = False
    """A person wants it given: it is never withheld at random."""


class Context(msgspec.Struct, frozen=True, kw_only=True):
    """A whole context. Without items it is empty, and `reason` says why."""

    id: str
    """A hash of the contents. Every rendering has it in its first line, so that the session that got it can be found."""
    task: str
    agent: str = ""
    project: str = ""
    budget: int = TOKEN_BUDGET
    tokens: int = 0
    """Of the rendered text, as estimated; never over the budget."""
    items: tuple[ContextLesson, ...] = ()
    addendum: str = ""
    template: str = ""
    """Name and digest (`name@digest`) where it was made from a template."""
    reason: str = ""
    sessions: int = 0
    """How many earlier sessions the lessons rest on, as far as is known."""
    considered: int = 0
    left_out: dict[str, int] = {}
    """How many lessons were not taken, by reason."""

    @property
    def is_from_this_project(self) -> bool:
        """Whether all lessons were learned in the session's own project; a template may be from elsewhere."""
        return bool(self.project) and not self.template
