"""Cuts texts so that what tells remains: around the line that an error is known by, or a beginning and an end.

Knows no session.
"""

from preheat.amounts import counted
from preheat.calls.words import telling_words
from preheat.compress.view import left_out

_ENOUGH = 0.7
"""So much of the words of an error must be there for it to be recognised."""
_AROUND = 2
_SLACK = 100
"""Characters: leaving out fewer saves nothing."""
_MOST_LINES = 4_000
"""Of a longer text the beginning and the end are looked at."""


def tells(text: str, signature: str, whole: str) -> bool:
    """Whether of a whole text enough is left to recognise the error: of those words it is known by that were in it."""
    original = whole.lower()
    words = [word for word in _words(signature) if word in original]
    return _found(text.lower(), words) >= _ENOUGH * len(words)


def around(text: str, signature: str, most: int) -> str:
    """The lines around the one that an error is known by; the beginning and end where none can be told."""
    if len(text) <= most + _SLACK:
        return text
    lines = _lines(text)
    words = _words(signature)
    if not words:
        return ends(text, most)
    scores = [_found(line.lower(), words) for line in lines]
    best = max(scores)
    if not best:
        return ends(text, most)
    at = len(scores) - 1 - scores[::-1].index(best)  # the last word of a tool is what it ends with
    first, last = max(0, at - _AROUND), min(len(lines), at + _AROUND + 1)
    while last - first > 1 and sum(map(len, lines[first:last])) > most:
        first, last = (first + 1, last) if at - first >= last - 1 - at and first < at else (first, last - 1)
    kept = [_shortened(line, most // max(1, last - first)) for line in lines[first:last]]
    before = [left_out(counted(first, "line"))] if first else []
    after = [left_out(counted(len(lines) - last, "line"))] if last < len(lines) else []
    return "\n".join((*before, *kept, *after))


def ends(text: str, most: int, beginning: float = 1 / 3) -> str:
    """The beginning and the end of a text; the beginning gets that share of what there is room for."""
    if len(text) <= most + _SLACK:
        return text
    room = int(most * beginning)
    head, tail = text[:room], text[len(text) - (most - room) :]
    if "\n" in head[room // 2 :]:
        head = head[: head.rindex("\n")]
    if "\n" in tail[: (most - room) // 2]:
        tail = tail[tail.index("\n") + 1 :]
    return f"{head}\n{left_out(counted(len(text) - len(head) - len(tail), 'character'))}\n{tail}"


def _shortened(line: str, most: int) -> str:
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


def _found(text: str, words: list[str]) -> int:
    return sum(word in text for word in words)
