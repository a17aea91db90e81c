"""Text made clean: invisible characters removed, long lines cut, and quoted so that it is harmless before a model.

A cleaned text cannot end the block it is quoted in, open another one, or steer a terminal. Light: a session's start loads it.
Knows no session and no lesson.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

# Removes invisible characters from a text
HIDDEN = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\u00ad\U000e0000-\U000e007f]")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and signs that are displayed as nothing."""
ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-_])")
"""Terminal escape sequences: colours, cursor moves, titles."""
_CASE_LOOKALIKES = "\u0130\u0131\u017f\u212a"
"""Characters that a case-insensitive pattern takes for an i, an s or a k."""
_VARIATIONS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_KEPT = "\n\t"


def strip_invisible(text: str) -> str:
    """A text without control characters, hidden and broken letters. Line ends and tabs are kept."""
    if text.isascii() and text.isprintable():
        return text
    text = _VARIATIONS.sub("", text.replace("\r\n", "\n").replace("\u2028", "\n").replace("\u2029", "\n"))
    return "".join(
        letter if letter in _KEPT or (letter.isprintable() and letter not in BLANK) else " " if letter.isspace() else ""
        for letter in text
    )


def one_line(text: str, most: int = 160) -> str:
    """A text on one line, without control characters, and cut to `most` characters."""
    text = text[: 8 * most]
    if not (text.isascii() and text.isprintable()):
        text = HIDDEN.sub("", CONTROL.sub(" ", text))
    elif len(text) <= most and "  " not in text and text[:1] != " " and text[-1:] != " ":
        return text
    return shorten_line(text, most)


def shorten_line(text: str, most: int) -> str:
    """A text with single blanks, cut to `most` characters."""
    flat = " ".join(text.split())
    return flat if len(flat) <= most else flat[: most - 1].rstrip() + "…"


def lower_if_plain(text: str) -> str | None:
    """A text in lower case, in which plain words can be searched; None if it has characters that a case-insensitive pattern takes
    for plain letters."""
    return text.lower() if text.isascii() or not any(sign in text for sign in _CASE_LOOKALIKES) else None


# Quotes a text as data for a model or a person
_TAG = re.compile(
    r"(?i)<(?=\s*[/\\]?\s*(?:preheat|system|instruction|important|user|human|assistant|developer|admin|antml|function"
    r"|tool|invoke|parameter|untrusted|persisted|thinking|\|)|!--)"
)
_OPEN = "‹"
_FENCE = re.compile("`{2,}|~{3,}")


def make_harmless(text: str) -> str:
    """A text of several lines that can neither end nor open a block."""
    return _TAG.sub(_OPEN, _FENCE.sub(lambda found: "'" * len(found[0]), strip_invisible(text)))


def without_markup(text: str) -> str:
    """A text in which nothing can be read as a tag, whatever reads it."""
    return text.replace("<", _OPEN).replace(">", "›")


def make_harmless_line(text: str, most: int) -> str:
    """A harmless text on one line, cut to `most` characters."""
    return shorten_line(make_harmless(text[: 8 * most]), most)


def in_backticks(text: str, most: int) -> str:
    """A command or a path in backticks."""
    flat = make_harmless_line(text, most)
    return f"`` {flat} ``" if "`" in flat else f"`{flat}`"


def in_quotes(text: str, most: int) -> str:
    """The output of a tool in quotation marks."""
    flat = make_harmless_line(text, most).replace('"', "'")
    return f'"{flat}"'


def map_texts(change: Callable[[str], str], value: Any) -> Any:
    """A JSON value with every text in it changed, names included."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {change(str(name)): map_texts(change, each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [map_texts(change, each) for each in value]
    return value


def texts_in(value: Any) -> Iterator[str]:
    """All texts in a JSON value, names included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, each in value.items():
            yield str(name)
            yield from texts_in(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from texts_in(each)
