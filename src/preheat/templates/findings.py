"""Findings: reasons why a text of a template should not reach a model, or not leave this machine. Pure; knows no store.

Every text that could reach a model is checked; a finding is a reason for a person to look, not a proof.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from preheat.model.lesson import Lesson
from preheat.model.template import Template
from preheat.safe_text.reasons import address_reason, destruction_reason, hidden_reason, lookalike_reason

Check = Callable[[str], str]
"""A function that gives the reason why a text is suspicious; empty if it is not."""


class TemplateText(NamedTuple):
    """One text of a template."""

    lesson: str
    """The id of the lesson it is in; empty for the template's own."""
    field: str
    text: str


class Finding(msgspec.Struct, frozen=True):
    """A text and the reason against it."""

    lesson: str
    field: str
    why: str
    text: str


CHECKS: tuple[Check, ...] = (hidden_reason, lookalike_reason, destruction_reason, address_reason)


def template_texts(template: Template) -> Iterator[TemplateText]:
    """Every text that may reach a model, or a person who lists the template."""
    for field in ("description", "addendum", "agent", "project"):
        yield TemplateText("", field, getattr(template, field))
    for field in ("markers", "tags"):
        yield from (TemplateText("", field, text) for text in getattr(template, field))
    yield from (TemplateText("", "user", text) for text in _strings(template.user))
    for lesson in template.lessons:
        yield from lesson_texts(lesson)


def lesson_texts(lesson: Lesson) -> Iterator[TemplateText]:
    """Every text of a lesson but its evidence, which no model reads."""
    fields = (
        "topic", "text", "use", "avoid", "error", "difference", "steps", "signatures", "forms", "files", "example",
        "packet", "recheck", "environment", "scope", "why",
    )  # fmt: skip
    for field in fields:
        for text in _strings(getattr(lesson, field)):
            yield TemplateText(lesson.id, field, text)


def find_findings(template: Template, checks: Sequence[Check] = ()) -> list[Finding]:
    """The findings in a template, by the standard checks and the given ones."""
    return list(_check_texts(template_texts(template), (*CHECKS, *checks)))


def _check_texts(found_texts: Iterable[TemplateText], checks: Sequence[Check]) -> Iterator[Finding]:
    for lesson, field, text in found_texts:
        for check in checks if text else ():
            why = check(text)
            if why:
                yield Finding(lesson, field, why, text)


def findings_by(template: Template, checks: Sequence[Check]) -> list[Finding]:
    """The findings in a template by the given checks alone."""
    return list(_check_texts(template_texts(template), checks))


def _strings(value: Any) -> Iterator[str]:
    """All texts in a value, nested ones and the keys of dictionaries too."""
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
