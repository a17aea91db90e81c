"""What speaks against a text that a stranger wants to put before a model, or that is to leave this machine. Pure.

Knows no store. Every text that could reach a model is looked at; a finding is a reason to look twice, not a proof.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from preheat.commands.dangers import ruinous
from preheat.model.lesson import Lesson
from preheat.model.template import Template

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


_INVISIBLE = frozenset("\u115f\u1160\u3164\uffa0\u034f\u2800")
"""Letters and signs that show nothing; what is invisible by its category needs no list."""
_JOINED = ("LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC")
_LOOKALIKE = ("FULLWIDTH", "MATHEMATICAL", "CIRCLED", "SQUARED", "PARENTHESIZED")
_SHORTEST_MIX = 4
"""`μs` and `Δx` mix scripts too."""
_WORD = re.compile(r"[^\W\d_]{2,}")
_ADDRESS = re.compile(r"(?i)\b(?:https?|ftp|wss?|ssh|git)://(?:[^\s/@]*@)?(?P<host>\[[^\]]*\]|[^\s/:'\"`<>()?#,]+)")
_OWN = re.compile(
    r"(?i)^(?:localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[::1?\]|(?:[\w-]+\.)*example\.(?:com|org|net)|\$.*)$"
)


def hidden(text: str) -> str:
    """Characters that a person does not see and a model reads: joiners, direction marks, tags, controls."""
    if text.isascii() and text.isprintable():
        return ""
    for letter in text:
        if letter in "\n\t" or " " <= letter <= "~":
            continue
        category = unicodedata.category(letter)
        if category == "Cc":
            return "control characters"
        if category in ("Cf", "Co", "Cs") or letter in _INVISIBLE or "\U000e0100" <= letter <= "\U000e01ef":
            return f"hidden characters (U+{ord(letter):04X})"
    return ""


def spell_out(text: str) -> str:
    """A text, whole, with everything that would not be seen written out."""
    return "".join(map(_visible, text))


def _visible(letter: str) -> str:
    if letter == "\n":
        return "⏎"
    return f"<U+{ord(letter):04X}>" if hidden(letter) or not letter.isprintable() else letter


def mixed(text: str) -> str:
    """Words written with letters that only look like others."""
    if text.isascii():
        return ""
    for word in _WORD.findall(text):
        if word.isascii():
            continue
        scripts = {unicodedata.name(letter, "").split(" ")[0] for letter in word}
        if scripts & set(_LOOKALIKE) or (len(word) >= _SHORTEST_MIX and len(scripts & set(_JOINED)) > 1):
            return f"letters that look like others in `{word[:30]}`"
    return ""


def destructive(text: str) -> str:
    """Commands that delete, overwrite or run what they fetch."""
    found = ruinous(text)
    return f"a destructive command: `{found[:60]}`" if found else ""


def addressed(text: str) -> str:
    """Addresses elsewhere."""
    for found in _ADDRESS.finditer(text):
        if not _OWN.match(found["host"]):
            return f"an address: `{found['host'][:60]}`"
    return ""


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
