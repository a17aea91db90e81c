"""What does not show in a text, taken out: control characters, hidden letters, escapes. Knows nothing of what the text says."""

import re

HIDDEN = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\u00ad\U000e0000-\U000e007f]")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and signs that show nothing."""
ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-_])")
"""What a terminal obeys: colours, cursor moves, titles."""
_OTHER_SIGNS = "\u0130\u0131\u017f\u212a"
"""What regular expressions take for an i, an s or a k."""
_VARIATIONS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_KEPT = "\n\t"


def visible(text: str) -> str:
    """Without what does not show: control characters, hidden and broken letters. Line ends and tabs stay."""
    if text.isascii() and text.isprintable():
        return text
    text = _VARIATIONS.sub("", text.replace("\r\n", "\n").replace("\u2028", "\n").replace("\u2029", "\n"))
    return "".join(
        letter if letter in _KEPT or (letter.isprintable() and letter not in BLANK) else " " if letter.isspace() else ""
        for letter in text
    )


def one_line(text: str, most: int = 160) -> str:
    """A text on one line, without what a terminal would obey, and not longer than `most`."""
    text = text[: 8 * most]
    if not (text.isascii() and text.isprintable()):
        text = HIDDEN.sub("", CONTROL.sub(" ", text))
    elif len(text) <= most and "  " not in text and text[:1] != " " and text[-1:] != " ":
        return text
    return shortened(text, most)


def shortened(text: str, most: int) -> str:
    """The beginning of a text, its gaps made one blank each."""
    flat = " ".join(text.split())
    return flat if len(flat) <= most else flat[: most - 1].rstrip() + "…"


def in_small_letters(text: str) -> str | None:
    """A text in small letters, in which every spelling of a plain word can be found; None where it has a sign that stands for
    a plain letter, too."""
    return text.lower() if text.isascii() or not any(sign in text for sign in _OTHER_SIGNS) else None
