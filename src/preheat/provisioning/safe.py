"""Makes texts that came out of sessions harmless for where they are put. Knows no lesson.

Nothing in them may end the block they stand in, open another one, be invisible, or steer a terminal.
"""

import re
from typing import Any

_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and signs that show nothing."""
_VARIATIONS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_TAG = re.compile(
    r"(?i)<(?=\s*[/\\]?\s*(?:preheat|system|instruction|important|user|human|assistant|developer|admin|antml|function"
    r"|tool|invoke|parameter|untrusted|persisted|thinking|\|)|!--)"
)
_OPEN = "‹"
_FENCE = re.compile("`{2,}|~{3,}")
_KEPT = "\n\t"


def visible(text: str) -> str:
    """Without what does not show: control characters, hidden and broken letters. Line ends and tabs stay."""
    if text.isascii() and text.isprintable():
        return text
    text = _VARIATIONS.sub("", text.replace("\r\n", "\n").replace("\u2028", "\n").replace("\u2029", "\n"))
    return "".join(
        letter
        if letter in _KEPT or (letter.isprintable() and letter not in _BLANK)
        else " "
        if letter.isspace()
        else ""
        for letter in text
    )


def harmless(text: str) -> str:
    """A text of several lines that neither ends nor opens a block."""
    return _TAG.sub(_OPEN, _FENCE.sub(lambda found: "'" * len(found[0]), visible(text)))


def line(text: str, most: int) -> str:
    """The same on one line, not longer than `most`."""
    flat = " ".join(harmless(text[: 8 * most]).split())
    return flat if len(flat) <= most else flat[: most - 1].rstrip() + "…"


def code(text: str, most: int) -> str:
    """A command or a path in backticks."""
    flat = line(text, most)
    return f"`` {flat} ``" if "`" in flat else f"`{flat}`"


def quoted(text: str, most: int) -> str:
    """What a tool printed, as a quotation."""
    flat = line(text, most).replace('"', "'")
    return f'"{flat}"'


def value(given: Any) -> Any:
    """A JSON value whose texts are harmless."""
    if isinstance(given, str):
        return harmless(given)
    if isinstance(given, dict):
        return {harmless(str(name)): value(each) for name, each in given.items()}
    if isinstance(given, list | tuple):
        return [value(each) for each in given]
    return given
