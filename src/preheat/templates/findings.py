"""What speaks against a text that a stranger wants to put before a model, or that is to leave this machine. Pure.

Knows no store. Every text that could reach a model is looked at; a finding is a reason to look twice, not a proof.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from preheat.model.lesson import Lesson
from preheat.model.template import Template
from preheat.safe_text.reasons import addressed, destructive, hidden, mixed

Check = Callable[[str], str]
"""Gives the reason why a text is suspicious; nothing where it is not."""


class Text(NamedTuple):
    """One text of a template."""

    lesson: str
    """The id of the lesson it is in; empty for the template's own."""
    field: str
    text: str


class Finding(msgspec.Struct, frozen=True):
    """A text and what speaks against it."""

    lesson: str
    field: str
    why: str
    text: str


CHECKS: tuple[Check, ...] = (hidden, mixed, destructive, addressed)


def texts(template: Template) -> Iterator[Text]:
    """Every text that may reach a model, or a person who lists the template."""
    for field in ("description", "addendum", "agent", "project"):
        yield Text("", field, getattr(template, field))
    for field in ("markers", "tags"):
        yield from (Text("", field, text) for text in getattr(template, field))
    yield from (Text("", "user", text) for text in _strings(template.user))
    for lesson in template.lessons:
        yield from lesson_texts(lesson)


def lesson_texts(lesson: Lesson) -> Iterator[Text]:
    """Every text of a lesson but those of its evidence, which stays with people."""
    fields = (
        "topic", "text", "use", "avoid", "error", "difference", "steps", "signatures", "forms", "files", "example",
        "packet", "recheck", "environment", "scope", "why",
    )  # fmt: skip
    for field in fields:
        for text in _strings(getattr(lesson, field)):
            yield Text(lesson.id, field, text)


def findings(template: Template, checks: Sequence[Check] = ()) -> list[Finding]:
    """What speaks against the texts of a template: by our own checks and by those given."""
    return list(_found(texts(template), (*CHECKS, *checks)))


def _found(given: Iterable[Text], checks: Sequence[Check]) -> Iterator[Finding]:
    for lesson, field, text in given:
        for check in checks if text else ():
            why = check(text)
            if why:
                yield Finding(lesson, field, why, text)


def only(template: Template, checks: Sequence[Check]) -> list[Finding]:
    """What speaks against the texts of a template by the given checks alone."""
    return list(_found(texts(template), checks))


def _strings(value: Any) -> Iterator[str]:
    """The texts in a value, however deep; names of arguments too, a model reads them. Our own names of fields are none."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            if each:
                yield each
        elif isinstance(each, dict):
            waiting += [*reversed(each.values()), *reversed(each.keys())]
        elif isinstance(each, list | tuple):
            waiting += reversed(each)
        elif isinstance(each, msgspec.Struct):
            waiting += [getattr(each, name) for name in reversed(each.__struct_fields__)]
