"""Estimates the number of tokens of a text offline. Knows no model and no tokeniser.

A text is cut where the common tokenisers cut it (words with the one character before them, numbers by three digits, runs of
signs, blanks, line ends), and each piece costs what pieces of its sort and length cost on average in real sessions, counted
with the `o200k` vocabulary. docs/concepts/provisioning.md has the errors by sort of text. More text never costs less.
"""

import re
from functools import lru_cache
from math import ceil

_LETTER = "[^\\W\\d_]"
_SIGN = "(?:[^\\w\\s]|_)"
_PIECES = re.compile(
    r"(?P<spaced> (?:[A-Z]*[a-z]+|[A-Z]+))"
    r"|(?P<bare>[A-Z]*[a-z]+|[A-Z]+)"
    r"|(?P<joined>[!-/:-@\[-`{-~\t](?:[A-Z]*[a-z]+|[A-Z]+))"
    rf"|(?P<foreign>[ !-/:-@\[-`{{-~\t]?(?:(?![A-Za-z]){_LETTER})+)"
    r"|(?P<number>[0-9]{1,3})"
    rf"|(?P<signs> ?{_SIGN}+[\r\n/]*)"
    r"|(?P<space>[\r\n]+|[^\S\r\n]+(?!\S)|[^\S\r\n]+)"
    r"|(?P<other>.)",
    re.DOTALL,
)
_MARGIN = 1.05
"""A factor with which the estimate is seldom too low."""
_LONGEST = 200_000
"""Characters that are read; the rest is extrapolated."""
_CHEAP_ASCII_SIGNS = 3


@lru_cache(maxsize=8192)
def estimate_tokens(text: str) -> int:
    """The estimated tokens of a text."""
    if not text:
        return 0
    if len(text) > _LONGEST:
        return ceil(estimate_tokens(text[:_LONGEST]) * len(text) / _LONGEST)
    return ceil(_MARGIN * sum(_piece_cost(found.lastgroup, found[0]) for found in _PIECES.finditer(text)))


def _piece_cost(sort: str | None, piece: str) -> float:
    length = len(piece)
    if sort == "spaced":
        return 1 + 0.03 * max(0, length - 6) + _capitals_cost(piece[1:])
    if sort == "bare":
        return 1.03 + 0.08 * max(0, length - 4) + _capitals_cost(piece)
    if sort == "joined":
        return 1.1 + 0.18 * max(0, length - 3) + _capitals_cost(piece[1:])
    if sort == "foreign":
        return 0.5 + sum(map(_letter_cost, piece))
    if sort == "signs":
        if piece.isascii():
            return 1 + 0.45 * max(0, length - _CHEAP_ASCII_SIGNS)
        return 0.5 + sum(map(_sign_cost, piece))
    return 1


def _capitals_cost(word: str) -> float:
    """The extra cost of a word in capitals."""
    return 0.15 * (len(word) - 2) if len(word) > 2 and word[:2].isupper() else 0.0


def _sign_cost(sign: str) -> float:
    if sign < "\u0080":
        return 0.1
    if "\ue000" <= sign < "\uf900" or sign >= "\U00010000":  # icons and emoji: hardly in any vocabulary
        return 2.5
    return 0.7


def _letter_cost(letter: str) -> float:
    if letter < "\u0080":
        return 0.1
    if letter < "\u0250":
        return 0.6
    if letter < "\u2e80":
        return 0.25
    return 0.85 if letter < "\U00010000" else 2.0
