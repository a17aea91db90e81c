"""Replaces everything in a text that identifies a person, a place or a machine by pseudonyms. Knows no session.

First secrets, then what has a telling form (`pseudonyms`), then the names that the archive knows (`names`). What people
describe in their own words stays: whoever publishes it must decide.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from preheat.lab.dataset.names import Names
from preheat.lab.dataset.pseudonyms import (
    MARK,
    SORT_OF,
    Pseudonyms,
    Sort,
    form_pattern,
    is_harmless,
    known_ending,
    path_depth,
)

Redact = Callable[[bytes], tuple[bytes, dict[str, int]]]
"""`ingest.redact.redact`, or one like it."""

_MARKS = re.compile(MARK)
_DEEPEST = 8
_INVISIBLE = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\u00ad]")
"""Invisible characters, which could hide a name."""
_ROUNDS = 8


class Anonymiser:
    """Makes texts anonymous, and counts what it took out, by sort."""

    def __init__(self, pseudonyms: Pseudonyms, names: Names, redact: Redact) -> None:
        self.counts: Counter[str] = Counter()
        self._pseudonyms = pseudonyms
        self._names = names
        self._redact = redact

    def anonymise_text(self, text: str) -> str:
        """A text with pseudonyms."""
        return self._replace_all(text, self._pseudonym_mark)

    def generalise(self, text: str) -> str:
        """A text in which everything identifying is replaced by its sort, such as `<path>`."""
        return self._replace_all(text, lambda sort, value: f"<{sort}>")

    def remove_names(self, text: str) -> str:
        """A product name or version, which may look like an id, with the names in it replaced."""
        return self._replace_names(text, lambda sort, value: f"<{sort}>")

    def anonymise_value(self, value: Any) -> Any:
        """A value out of JSON with every text in it made anonymous, the names of members too."""
        if isinstance(value, str):
            return self.anonymise_text(value)
        if isinstance(value, dict):
            return {self.anonymise_text(str(name)): self.anonymise_value(each) for name, each in value.items()}
        if isinstance(value, list | tuple):
            return [self.anonymise_value(each) for each in value]
        if isinstance(value, bool) or value is None:
            return value
        if isinstance(value, int | float):
            return value if abs(value) < 1e8 else self.anonymise_text(str(value))
        return self.anonymise_text(str(value))

    def _replace_all(self, text: str, named: Callable[[Sort, str], str]) -> str:
        if not text:
            return text
        text = visible_text(text)
        for _ in range(_ROUNDS):  # a replacement may make its neighbour recognisable
            before = text
            data, found = self._redact(text.encode("utf-8", "replace"))
            text = data.decode("utf-8", "replace")
            self.counts["secret"] += sum(found.values())
            text = self._replace_names(self._replace_forms(text, named), named)
            if text == before:
                return text
        self.counts["text"] += 1
        return "<text>"  # it never settles: nothing of it is published

    def _replace_forms(self, text: str, named: Callable[[Sort, str], str]) -> str:
        def put(match: re.Match[str]) -> str:
            form, found = str(match.lastgroup), match[0]
            if is_harmless(form, found):
                return found if form == "mark" else self._replace_names(found, named)
            sort = SORT_OF[form]
            self.counts[sort] += 1
            mark = named(sort, found)
            if sort not in ("path", "file") or not mark.count("-"):
                return mark
            return f"{mark}{'/_' * (min(path_depth(found), _DEEPEST) - 1)}{known_ending(found)}"

        return form_pattern().sub(put, text)

    def _replace_names(self, text: str, named: Callable[[Sort, str], str]) -> str:
        kept: list[str] = []
        done = 0
        for start, end, sort, name in names_outside_marks(text, self._names):
            kept += (text[done:start], named(sort, name))
            self.counts[sort] += 1
            done = end
        return "".join((*kept, text[done:])) if kept else text

    def _pseudonym_mark(self, sort: Sort, value: str) -> str:
        return f"<{self._pseudonyms.pseudonym(sort, value)}>" if sort != "date" else "<date>"


def names_outside_marks(text: str, names: Names) -> Iterator[tuple[int, int, Sort, str]]:
    """The names in a text that are not inside a pseudonym."""
    marks = [(len(text), len(text)), *reversed([match.span() for match in _MARKS.finditer(text)])]
    for start, end, sort, name in names.find(text):
        while marks[-1][1] <= start and len(marks) > 1:
            marks.pop()
        if end <= marks[-1][0]:
            yield start, end, sort, name


def visible_text(text: str) -> str:
    """A text without invisible characters."""
    return text if text.isascii() else unicodedata.normalize("NFC", _INVISIBLE.sub("", text))


def mask(text: str) -> str:
    """A text of which only the lengths of its words and lines are left."""
    return re.sub(r"\S", "x", text)
