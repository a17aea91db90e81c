"""What people and an assistant refer to in a conversation: paths, addresses, code blocks. Knows nothing of sessions.

Looks at the places where a slash or a fence stands and nowhere else: long answers cost next to nothing.
"""

import re
from collections import Counter
from collections.abc import Iterable

MOST = 20
_LONGEST = 200
_LONGEST_BLOCK = 100
_BREAKS = r"\s\"'`<>()\[\]{}|*,;"
_BEFORE = re.compile(f"[^{_BREAKS}/=]+")
_AFTER = re.compile(f"[^{_BREAKS}]+")
_CLOSINGS = ".:!?…"
_ENDING = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,7}$")
_PLACE = re.compile(r"(?::\d+(?:[:-]\d+)*|#L?\d[\w-]*)$")


def find_context_markers(texts: Iterable[str], project: str = "") -> tuple[str, ...]:
    """Paths, addresses and code blocks, the most frequent first and then the first seen, at most twenty. Paths inside the
    project begin there."""
    inside = project.rstrip("/") + "/" if len(project) > 1 else ""
    words: list[str] = []
    blocks: list[str] = []
    for text in texts:
        if "/" in text:
            _places(text, words)
        if "```" in text:
            _blocks(text, blocks)
    if not words and not blocks:
        return ()
    counts: Counter[str] = Counter()
    for word, number in Counter(words).items():  # each word is looked at once
        marker = _marker(word, inside)
        if marker:
            counts[marker] += number
    counts.update(blocks)
    return tuple(" ".join(marker.split()) for marker, _ in counts.most_common(MOST))


def _places(text: str, words: list[str]) -> None:
    """The words with a slash."""
    at = text.find("/")
    while at >= 0:
        before = _BEFORE.match(text[at - _LONGEST if at > _LONGEST else 0 : at][::-1])
        end = _AFTER.match(text, at).end()  # type: ignore[union-attr] # the slash itself at least
        if end - at > 1:
            words.append(text[at - before.end() if before else at : end])
        at = text.find("/", end)


def _marker(word: str, inside: str) -> str:
    """The word as a marker; empty where it is none (`and/or`, `1/2`, a command)."""
    word = word.rstrip(_CLOSINGS)
    if "//" in word:
        return word if word.startswith(("https://", "http://")) and len(word) > 8 else ""
    word = _PLACE.sub("", word)
    if inside and word.startswith(inside):
        return word[len(inside) :]
    if word.startswith((".", "/", "~")):
        return word if word.count("/") > word.startswith("/") else ""
    return word if "/" in word and _ENDING.search(word) else ""


def _blocks(text: str, found: list[str]) -> None:
    """The fence of each block, with its language, and the first line in it."""
    at = text.find("```")
    while at >= 0:
        close = text.find("```", at + 3)
        line = text.find("\n", at, close) + 1
        end = text.find("\n", line, close)
        if line and end > line:
            found.append(text[at : min(end, at + _LONGEST_BLOCK)])
        at = text.find("```", close + 3) if close >= 0 else -1
