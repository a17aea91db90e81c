"""Cuts texts: to the lines around an error, or to a beginning and an end. Knows no session."""

from preheat.amounts import format_count
from preheat.calls.words import telling_words
from preheat.compress.view import format_omission

_LEAST_SHARE = 0.7
"""The share of an error's words that must be left for it to be recognised."""
_LINES_AROUND = 2
_SLACK = 100
"""A text is not cut to save fewer characters."""
_MOST_LINES = 4_000
"""Lines that are searched; of a longer text its beginning and end."""


def is_recognisable(text: str, signature: str, whole: str) -> bool:
    """Whether enough words of an error are left in `text`, of those that were in the `whole` text."""
    original = whole.lower()
    words = [word for word in _words(signature) if word in original]
    return _count_words(text.lower(), words) >= _LEAST_SHARE * len(words)


def cut_around_error(text: str, signature: str, most: int) -> str:
    """The lines around the line of an error; the beginning and end where no line has its words."""
    if len(text) <= most + _SLACK:
        return text
    lines = _lines(text)
    words = _words(signature)
    if not words:
        return cut_middle(text, most)
    scores = [_count_words(line.lower(), words) for line in lines]
    best = max(scores)
    if not best:
        return cut_middle(text, most)
    at = len(scores) - 1 - scores[::-1].index(best)  # the last such line: tools end with the error
    first, last = max(0, at - _LINES_AROUND), min(len(lines), at + _LINES_AROUND + 1)
    while last - first > 1 and sum(map(len, lines[first:last])) > most:
        first, last = (first + 1, last) if at - first >= last - 1 - at and first < at else (first, last - 1)
    kept = [_cut_line(line, most // max(1, last - first)) for line in lines[first:last]]
    before = [format_omission(format_count(first, "line"))] if first else []
    after = [format_omission(format_count(len(lines) - last, "line"))] if last < len(lines) else []
    return "\n".join((*before, *kept, *after))


def cut_middle(text: str, most: int, beginning: float = 1 / 3) -> str:
    """The beginning and the end of a text; the beginning gets that share of the room."""
    if len(text) <= most + _SLACK:
        return text
    room = int(most * beginning)
    head, tail = text[:room], text[len(text) - (most - room) :]
    if "\n" in head[room // 2 :]:
        head = head[: head.rindex("\n")]
    if "\n" in tail[: (most - room) // 2]:
        tail = tail[tail.index("\n") + 1 :]
    return f"{head}\n{format_omission(format_count(len(text) - len(head) - len(tail), 'character'))}\n{tail}"


def _cut_line(line: str, most: int) -> str:
    most = max(most, 80)
    return line if len(line) <= most else f"{line[: most - 1]}…"


def _lines(text: str) -> list[str]:
    lines = text.splitlines()
    if len(lines) <= _MOST_LINES:
        return lines
    half = _MOST_LINES // 2
    return [*lines[:half], *lines[-half:]]


def _words(signature: str) -> list[str]:
    return [word for word in telling_words(signature) if word != "…"]


def _count_words(text: str, words: list[str]) -> int:
    return sum(word in text for word in words)
