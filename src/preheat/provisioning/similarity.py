"""How close a lesson is to a task: words in common, rare ones counting more (BM25). Knows no lesson.

Names of code are taken apart (`parseUserName`, `user_name`, `src/user/name.py`), because a task seldom spells them out.
"""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from math import log, sqrt

from preheat.calls.vocabulary import told_words

Words = frozenset[str]

_ENDINGS = ("ing", "ed", "s")
_LEAST_STEM = 4
_SATURATION, _LENGTH = 1.2, 0.6
"""The two constants of BM25; no word counts twice here, so the first only shapes the second."""
_SHORT_TASK = 20
"""Words up to which a task says nothing but what it is about."""


@lru_cache(maxsize=16384)
def words(text: str) -> Words:
    """The words that a text is about, in small letters and without their endings."""
    return frozenset(map(_stem, told_words(text)))


def similarities(task: Words, documents: Sequence[Words]) -> list[float]:
    """For each document, from 0 (no word in common) towards 1; one word that no other document has gives about a half.

    It grows neither with the number of documents (a word is weighed against the rarest that there could be) nor with the
    length of the task: a plan of a thousand words has some in common with everything."""
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
        # Sorted: adding in another order gives another last digit.
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
