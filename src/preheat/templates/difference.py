"""What changed from one version of a template to another, lesson by lesson. Pure; knows no store."""

from typing import Any

import msgspec

from preheat.model.lesson import Lesson
from preheat.model.template import Template, UserPattern

_LESSON_FIELDS = (
    "text", "topic", "use", "avoid", "error", "difference", "steps", "signatures", "forms", "files", "example", "packet",
    "recheck", "environment", "support", "score", "utility", "status", "why", "pinned", "expires_at", "last_seen",
)  # fmt: skip
"""The compared fields of a lesson, in the order in which changes are shown; evidence follows from support."""
_TEMPLATE_FIELDS = ("description", "addendum", "markers", "tags", "agent", "project", "sources")


class Change(msgspec.Struct, frozen=True):
    """One field, before and after."""

    field: str
    before: Any
    after: Any


class ChangedLesson(msgspec.Struct, frozen=True):
    """A lesson of both versions, and its changed fields."""

    lesson: Lesson
    """As it is in the later version."""
    changes: tuple[Change, ...]


class Difference(msgspec.Struct, frozen=True):
    """All changes from one version to another."""

    added: tuple[Lesson, ...]
    removed: tuple[Lesson, ...]
    changed: tuple[ChangedLesson, ...]
    template: tuple[Change, ...]
    """Changed fields of the template itself, and of its user pattern."""
    same: int
    """The number of unchanged lessons."""

    @property
    def is_empty(self) -> bool:
        return not (self.added or self.removed or self.changed or self.template)


def compare_templates(before: Template, after: Template) -> Difference:
    """The changes from one template to another; lessons are matched by their ids."""
    old = {lesson.id: lesson for lesson in before.lessons}
    new = {lesson.id: lesson for lesson in after.lessons}
    pairs = [(lesson, _changes(old[lesson.id], lesson, _LESSON_FIELDS)) for lesson in after.lessons if lesson.id in old]
    changed = tuple(ChangedLesson(lesson, changes) for lesson, changes in pairs if changes)
    return Difference(
        added=tuple(lesson for lesson in after.lessons if lesson.id not in old),
        removed=tuple(lesson for lesson in before.lessons if lesson.id not in new),
        changed=changed,
        template=(
            *_changes(before, after, _TEMPLATE_FIELDS),
            *_changes(before.user, after.user, UserPattern.__struct_fields__),
        ),
        same=len(pairs) - len(changed),
    )


def _changes(before: Any, after: Any, fields: tuple[str, ...]) -> tuple[Change, ...]:
    return tuple(
        Change(field, getattr(before, field), getattr(after, field))
        for field in fields
        if getattr(before, field) != getattr(after, field)
    )
