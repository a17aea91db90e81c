"""The terms of a text: its words in the form in which a search compares them, and identifiers in their parts.

`parseConfigs`, `parse_config` and "parsing the config" have terms in common. Knows neither files nor prompts.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import lru_cache

LONGEST_TERM = 40
_MOST_CACHED = 40_000
_TOKEN = re.compile(r"[^\W\d]\w+")
_ASCII_TOKEN = re.compile(r"[A-Za-z_]\w+", re.ASCII)
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_WITHOUT_SPACES = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]")
"""Scripts that are written without spaces, or with long runs: their terms are pairs of letters."""
_MOST_CHANGES = 3
"""Changes between letters and digits in one word; one with more is a hash, a key or other noise."""
_VOWEL = re.compile(r"[aeiouy]")

_COMMON = frozenset(
    """
    a about after again all also always am an and any are as at be because been before being but by can could did do does
    doing done each else etc ever every few for from further get gets go had has have having he her here him his how i if in
    into is it its itself just let like look make many may me might more most much must my need no nor not now of off ok on
    once one only or other our out over own per please put same say see shall she should since so some still such sure take
    than thank thanks that the their them then there these they this those through thus to too try under until up upon us use
    used uses using very via want was we well were what when where which while who whom whose why will with within without
    would yes yet you your
    abstract bool boolean break case catch char class const continue def default del double elif end enum export extends
    false final finally float fn func function impl implements import include int interface lambda long namespace new nil
    none null package private protected pub public raise require return self short static str string struct super switch
    throw throws true try type typeof undefined unsigned using var void
    """.split()  # noqa: SIM905 - a list in this form can be read
)
"""Words of English and of programming languages that say nothing about where something is."""


@lru_cache(maxsize=_MOST_CACHED)
def stem(word: str) -> str:
    """A word in lower case without its most frequent English endings: `parsing`, `parsed`, `parses` and `parse` give the same."""
    if len(word) < 4 or not word.isascii():
        return word
    if word.endswith("ies"):
        word = f"{word[:-3]}y"
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        rest = word[: -len(ending)]
        if word.endswith(ending) and len(rest) > 2 and _VOWEL.search(rest):
            word = rest[:-1] if rest[-1] == rest[-2] and rest[-1] not in "lsz" else rest
            break
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


_COMMON_STEMS = frozenset(map(stem, _COMMON))


def _divide(token: str) -> tuple[str, ...]:
    if token.islower() and token.isascii() and token.replace("_", "").isalpha():  # most words: no need for a pattern
        return tuple([stem(part) for part in token.split("_") if 1 < len(part) <= LONGEST_TERM])
    parts = _PART.findall(token)
    if len(parts) > 2 * _MOST_CHANGES and sum(map(str.isdigit, parts)) > _MOST_CHANGES:
        return ()
    if token.isascii():
        return tuple([stem(part.lower()) for part in parts if 1 < len(part) <= LONGEST_TERM and not part.isdigit()])
    found: list[str] = []
    for part in parts:
        word = part.lower()
        if _WITHOUT_SPACES.search(word):
            found += [word[at : at + 2] for at in range(max(1, len(word) - 1))]
        elif 1 < len(word) <= LONGEST_TERM and not word.isdigit():
            found.append(stem(word))
    return tuple(found)


def key_of(parts: Sequence[str]) -> str:
    """One term for several parts in their order: the same for `parse_config`, `parseConfig` and `PARSE_CONFIGS`."""
    return "_".join(parts)


@lru_cache(maxsize=_MOST_CACHED // 4)
def split(token: str) -> tuple[str, ...]:
    """The terms of one identifier or word: its parts without common words, and the whole if it has several."""
    parts = _divide(token)
    kept = [part for part in parts if part not in _COMMON_STEMS]
    if len(parts) > 1 and kept and len(whole := "_".join(parts)) <= 2 * LONGEST_TERM and whole.isascii():
        kept.append(whole)
    return tuple(kept)


@lru_cache(maxsize=_MOST_CACHED // 4)
def symbol_key(name: str) -> str:
    """The term by which a symbol is found: its parts, common words included."""
    return key_of(_divide(name.rpartition(".")[2] or name))[: 2 * LONGEST_TERM]


def tokens_of(text: str) -> list[str]:
    """The identifiers and words of a text as they are written, in their order."""
    return (_ASCII_TOKEN if text.isascii() else _TOKEN).findall(text)


class TermCounter:
    """Counts the terms of texts; keeps what it has split, because the same identifiers come again and again."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, ...]] = {}

    def count(self, text: str) -> dict[str, int]:
        """How often each term is in a text."""
        known = self._known
        counts: defaultdict[str, int] = defaultdict(int)
        for token, number in Counter(tokens_of(text)).items():
            terms = known.get(token)
            if terms is None:
                if len(known) >= _MOST_CACHED:
                    known.clear()
                terms = known[token] = split.__wrapped__(token) if len(token) <= 2 * LONGEST_TERM else ()
            for term in terms:
                counts[term] += number
        return counts

    def find_key(self, name: str) -> str:
        """The term by which a symbol of a counted text is found, as `symbol_key` gives it."""
        terms = self._known.get(name, ())
        return terms[-1] if len(terms) > 1 and "_" in terms[-1] else symbol_key(name)
