"""Patterns of paths as programs of JavaScript write them: `src/**/*.{test,spec}.?(c|m)[jt]s?(x)`. Pure."""

import re
from functools import lru_cache

_PART = re.compile(r"\*\*/|\*\*|\*(?!\()|\?(?!\()|[?+*@]\([^()]*\)|\{[^{}]*\}|\[[\w-]+\]|[\w./@-]+")


@lru_cache(maxsize=256)
def read_pattern(pattern: str) -> "re.Pattern[str] | None":
    """A pattern as an expression; None where it is written otherwise than we know."""
    parts = [*_PART.finditer(pattern)]
    if "".join(part[0] for part in parts) != pattern:
        return None
    translated = [_translate(part[0]) for part in parts]
    return re.compile("".join(translated))


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
