"""Looks through an export for what should not be in it: addresses, paths, ids, secrets, and every name the archive knows.

Knows no disk: files come as bytes. What the export took out is looked for again in what it wrote, names of members and files
and all: whatever was written without being made anonymous is found here.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from preheat.dataset.anonymise import Redact, outside_marks
from preheat.dataset.forms import SORT_OF, TELLING, harmless, wide
from preheat.dataset.names import Names

_SHOWN = 60
_ALLOWED = ("https://json-schema.org/draft/2020-12/schema",)
_WORD = re.compile(r"[^\W_]+")
_DIGEST = re.compile(r"[0-9a-f]{64}")


class Leak(NamedTuple):
    """Something in an export that looks like somebody's."""

    file: str
    line: int
    sort: str
    text: str


class Look(NamedTuple):
    """What is looked for."""

    names: Names
    redact: Redact
    allowed: tuple[str, ...] = ()
    """Texts that a person says are no leak."""
    own: frozenset[str] = frozenset()
    """Words of the datasheet and the schema: everybody's."""


def in_file(name: str, data: bytes, look: Look) -> Iterator[Leak]:
    """What a file gives away; `name` is its path in the export."""
    found: dict[tuple[int, str, str], None] = {}
    for line, text in _texts(name, data):
        for sort, excerpt in in_text(text, look):
            if _is_own(name, sort, excerpt, look.own):
                continue
            found[line, sort, excerpt[:_SHOWN]] = None
    yield from (Leak(name, *each) for each in found)


def in_text(text: str, look: Look) -> Iterator[tuple[str, str]]:
    """What a text gives away: of what sort, and the words themselves."""
    for allowed in (*_ALLOWED, *look.allowed):
        text = text.replace(allowed, "")
    for match in wide().finditer(text):
        form = str(match.lastgroup)
        if form in TELLING and not harmless(form, match[0]):
            yield SORT_OF[form], match[0]
    for start, end, sort, _ in outside_marks(text, look.names):
        yield sort, text[start:end]
    if found := look.redact(text.encode("utf-8", "replace"))[1]:
        yield "secret", ", ".join(sorted(found))


def words(text: str) -> frozenset[str]:
    """The words of a text, each once."""
    return frozenset(word.lower() for word in _WORD.findall(text))


def _is_own(name: str, sort: str, excerpt: str, own: frozenset[str]) -> bool:
    """Whether it is only what every export's own pages say: their words, and digests of files in the manifest."""
    if sort == "id" and name == "manifest.json":
        return _DIGEST.fullmatch(excerpt) is not None
    return name in ("datasheet.md", "schema.json", "manifest.json") and words(excerpt) <= own


def _texts(name: str, data: bytes) -> Iterator[tuple[int, str]]:
    """Every text in a file with its line; what is no JSON is looked at as it stands."""
    if name.endswith(".json"):
        yield from _document(data)
        return
    for line, raw in enumerate(data.splitlines(), 1):
        if name.endswith(".jsonl"):
            try:
                yield from ((line, text) for text in _strings(msgspec.json.decode(raw)))
                continue
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                pass
        yield line, raw.decode("utf-8", "replace")


def _document(data: bytes) -> Iterator[tuple[int, str]]:
    try:
        value = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        yield from enumerate(data.decode("utf-8", "replace").splitlines(), 1)
        return
    lines: dict[bytes, int] = {}
    for number, line in enumerate(data.split(b"\n"), 1):
        for piece in re.findall(rb'"(?:[^"\\]|\\.)*"', line):
            lines.setdefault(piece, number)
    for text in _strings(value):
        yield lines.get(msgspec.json.encode(text), 1), text


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, each in value.items():
            yield str(name)
            yield from _strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)


def in_files(files: Iterable[tuple[str, Callable[[], bytes]]], look: Look) -> Iterator[Leak]:
    """What an export gives away; its files one after the other, each with how to read it. Names of files count too."""
    for name, read in files:
        for sort, excerpt in in_text(name, look):
            yield Leak(name, 0, sort, excerpt[:_SHOWN])
        yield from in_file(name, read(), look)
