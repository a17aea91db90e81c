"""Patterns of paths as programs of JavaScript write them: `src/**/*.{test,spec}.?(c|m)[jt]s?(x)`. Pure."""

import re
from functools import lru_cache

_PART = re.compile(r"\*\*/|\*\*|\*(?!\()|\?(?!\()|[?+*@]\([^()]*\)|\{[^{}]*\}|\[[\w-]+\]|[\w./@-]+")


_MOST_OPEN = 4
"""Signs for any text in one pattern: more of them are slow to compare."""


@lru_cache(maxsize=256)
def read_pattern(pattern: str) -> "re.Pattern[str] | None":
    """A pattern as an expression; None where it is written otherwise than we know."""
    parts = [part[0] for part in _PART.finditer(pattern)]
    is_slow = pattern.count("*") - 2 * pattern.count("**/") > _MOST_OPEN or pattern.count("**/") > _MOST_OPEN
    if "".join(parts) != pattern or is_slow or any(part[:2] in ("+(", "*(") and "*" in part[1:] for part in parts):
        return None
    try:
        return re.compile("".join(map(_translate, parts)))
    except re.error:
        return None


def _translate(part: str) -> str:
    if part in _PLAIN:
        return _PLAIN[part]
    if part[0] == "{":
        return f"(?:{'|'.join(map(_translate_all, part[1:-1].split(',')))})"
    if part[-1] == ")":
        often = "" if part[0] == "@" else part[0]
        return f"(?:{'|'.join(map(_translate_all, part[2:-1].split('|')))}){often}"
    return part if part[0] == "[" else re.escape(part)


def _translate_all(text: str) -> str:
    """One of several choices, which may hold simple signs of its own."""
    return "".join(_PLAIN.get(each, re.escape(each)) for each in re.split(r"(\*\*/|\*\*|\*|\?)", text))


_PLAIN = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
