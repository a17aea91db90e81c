"""BM25 of terms over the documents of an index. Knows neither prompts nor paths."""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from preheat.tree.postings import Numbers, Reader

MOST_TERMS = 64
"""Terms that are compared, the rarest."""
_TOO_FREQUENT = 0.5
"""Share of all documents from which on a term says nothing."""
_FEW = 20
"""Documents up to which no term is too frequent."""
_SATURATION = 1.2
_LENGTH_WEIGHT = 0.6

Floats = npt.NDArray[np.float32]


class Lengths(NamedTuple):
    """The lengths of documents in terms, by their numbers; 0 for a document that is no more."""

    lengths: Floats
    alive: int
    """Documents that are there."""
    average: float

    @classmethod
    def make(cls, lengths: Floats) -> "Lengths":
        alive = lengths[lengths > 0]
        return cls(lengths, len(alive), float(alive.mean()) if len(alive) else 1.0)


class Ranking(NamedTuple):
    """The scores of documents, and what each term added."""

    scores: Floats
    parts: dict[str, tuple[Numbers, Floats]]
    """By term: the documents and their shares."""

    def best(self, most: int) -> list[int]:
        """The documents with the highest scores, the highest first."""
        found = int(np.count_nonzero(self.scores))
        most = min(most, found)
        if not most:
            return []
        chosen = np.argpartition(-self.scores, most - 1)[:most]
        ordered: list[int] = chosen[np.lexsort((chosen, -self.scores[chosen]))].tolist()
        return ordered

    def explain(self, documents: list[int]) -> dict[int, list[tuple[float, str]]]:
        """What each term added to the scores of these documents."""
        wanted = np.zeros(len(self.scores), np.bool_)
        wanted[documents] = True
        found: dict[int, list[tuple[float, str]]] = {document: [] for document in documents}
        for term, (numbers, shares) in self.parts.items():
            chosen = wanted[numbers]
            for document, share in zip(numbers[chosen].tolist(), shares[chosen].tolist(), strict=True):
                found[document].append((share, term))
        return found


def score(reader: Reader, terms: Mapping[str, int], prefix: str, lengths: Lengths) -> Ranking:
    """Score every document for these terms, each with how often it was asked for."""
    total = np.zeros(len(lengths.lengths), np.float32)
    parts: dict[str, tuple[Numbers, Floats]] = {}
    counts = reader.count_documents([prefix + term for term in terms])
    rarest = sorted(counts, key=lambda term: (counts[term], term))[:MOST_TERMS]
    absent = len(lengths.lengths) - lengths.alive
    most = _TOO_FREQUENT * lengths.alive if lengths.alive > _FEW else lengths.alive
    for term in rarest:
        if counts[term] - absent > most:
            continue  # too frequent even if all documents that are no more had it: not worth loading
        postings = reader.load(term)
        numbers = postings >> 8
        is_alive = lengths.lengths[numbers] > 0
        numbers = numbers[is_alive]
        frequency = len(numbers)
        if not 0 < frequency <= most:
            continue
        counted = (postings[is_alive] & 0xFF).astype(np.float32)
        rarity = math.log(1 + (lengths.alive - frequency + 0.5) / (frequency + 0.5))
        asked = 1 + math.log(terms[term[len(prefix) :]])
        norm = _SATURATION * (1 - _LENGTH_WEIGHT + _LENGTH_WEIGHT * lengths.lengths[numbers] / lengths.average)
        shares = (asked * rarity * (_SATURATION + 1)) * counted / (counted + norm)
        total[numbers] += shares
        parts[term[len(prefix) :]] = (numbers, shares.astype(np.float32))
    return Ranking(total, parts)
