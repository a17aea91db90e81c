"""Similarity of a lesson to a task: words in common, rare words count more (BM25). Knows no lesson.

Names in code are split (`parseUserName`, `user_name`, `src/user/name.py`), because tasks seldom contain them.
"""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from math import log, sqrt

from preheat.calls.vocabulary import words_in

Words = frozenset[str]

_ENDINGS = ("ing", "ed", "s")
_LEAST_STEM = 4
_SATURATION, _LENGTH = 1.2, 0.6
"""The two constants of BM25; each word counts once here."""
_SHORT_TASK = 20
"""Words up to which the length of a task is not corrected for."""


@lru_cache(maxsize=16384)
def content_words(text: str) -> Words:
    """The telling words of a text, in lower case and without endings."""
    return frozenset(map(_stem, words_in(text)))


def similarities(task: Words, documents: Sequence[Words]) -> list[float]:
    """For each document, from 0 (no word in common) towards 1; one word that no other document has gives about 0.5.

    Independent of the number of documents (a word is weighed against the rarest possible word) and of the length of the task."""
    shared = [task & document for document in documents]
    frequency = Counter(word for common in shared for word in common)
    count = len(documents)
    rarity = {word: _rarity(times, count) for word, times in frequency.items()}
    unit = _rarity(1, count) * max(1.0, sqrt(len(task) / _SHORT_TASK))
    usual = sum(map(len, documents)) / count if count else 0.0
    found = []
    for document, common in zip(documents, shared, strict=True):
        if not common:
            found.append(0.0)
            continue
        length = 1 - _LENGTH + _LENGTH * len(document) / usual
        weight = (_SATURATION + 1) / (1 + _SATURATION * length)
        # Sorted, because the order of addition changes the last digit.
        score = weight * sum([rarity[word] for word in sorted(common)]) / unit
        found.append(score / (1 + score))
    return found


def _rarity(documents: int, count: int) -> float:
    return log(1 + (count - documents + 0.5) / (documents + 0.5))


def _stem(word: str) -> str:
    """`parse`, `parses`, `parsed` and `parsing` are one word."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _LEAST_STEM and not word.endswith("ss"):
            word = word.removesuffix(ending)
            break
    return word[:-1] if word.endswith("e") and len(word) > _LEAST_STEM else word
