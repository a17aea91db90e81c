"""What a project's earlier episodes say about files: which were used for similar prompts, together, often, lately.

Made once from all episodes; renames and removals that sessions show are followed. Knows no working tree.
"""

import heapq
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from preheat.model.analysis import Episode, FileUseKind
from preheat.model.orientation import PastEpisode
from preheat.orientation.prompt import MAIN_BRANCHES, count_terms

MOST_EPISODES = 10_000
"""Episodes that are known, the newest ones."""
_USE_WEIGHTS: dict[FileUseKind, float] = {"changed": 1.0, "made": 1.0, "read": 0.45, "removed": 0.0}
_CLOSING_WEIGHT = 0.5
"""What a word of the closing line weighs beside one of the prompt."""
_MOST_SIMILAR = 12
_LEAST_SIMILARITY = 0.03
_MOST_TERMS = 120
"""Terms of a prompt that are looked up, the rarest ones."""
_RECENT_SESSIONS, _FREQUENT_SESSIONS = 4, 25
"""After so many sessions a use counts for a third: as something recent, as something frequent."""
_MOST_OF_SEED = 200
"""Episodes, the newest ones, in which a file is looked for beside another."""


class Similar(NamedTuple):
    """An episode that is like a prompt."""

    place: int
    """Its place among the episodes."""
    similarity: float


class History:
    """A project's episodes, for questions about a prompt."""

    def __init__(self, episodes: Iterable[PastEpisode] = ()) -> None:
        ordered = sorted(episodes, key=lambda each: (each.episode.ended_at or 0.0, each.session, each.episode.number))
        self.episodes: Sequence[PastEpisode] = ordered[-MOST_EPISODES:]
        names = _follow_renames(self.episodes)
        gone = _find_removed(self.episodes)
        self.files: list[dict[str, float]] = [_weigh_uses(each.episode, names, gone) for each in self.episodes]
        """Of each episode the files that it used, with the weight of the use."""
        self._postings, self._lengths = _index_terms(self.episodes)
        self.recent, self.frequent = _sum_uses(self.episodes, self.files)
        """By file: how lately it was used, from 0 to 1, and how often, where old uses count less."""
        self._places = _index_files(self.files)

    def rarity(self, term: str) -> float:
        """How much a term tells here: more if few episodes have it."""
        have = len(self._postings.get(term, ()))
        return math.log(1 + (len(self.episodes) - have + 0.5) / (have + 0.5)) if self.episodes else 0.0

    def find_similar(self, terms: Mapping[str, float]) -> list[Similar]:
        """The episodes that are most like a prompt, by the cosine of their weighted terms."""
        weighted = {term: self.rarity(term) * weight for term, weight in terms.items()}
        length = math.sqrt(sum(weight * weight for weight in weighted.values()))
        products: defaultdict[int, float] = defaultdict(float)
        for term in heapq.nlargest(_MOST_TERMS, weighted, key=lambda each: (weighted[each], each)):
            for place, weight in self._postings.get(term, ()):
                products[place] += weighted[term] * weight * self.rarity(term)
        found = [
            Similar(place, product / (length * self._lengths[place]))
            for place, product in products.items()
            if length and self._lengths[place]
        ]
        best = heapq.nlargest(_MOST_SIMILAR, found, key=lambda each: (each.similarity, each.place))
        return [each for each in best if each.similarity >= _LEAST_SIMILARITY]

    def files_of_branch(self, branch: str) -> dict[str, float]:
        """The files that earlier sessions on the same branch used; none for a branch that everybody works on."""
        if branch in MAIN_BRANCHES:
            return {}
        found: dict[str, float] = {}
        for past, files in zip(self.episodes, self.files, strict=True):
            if past.branch == branch:
                for path, weight in files.items():
                    found[path] = max(weight, found.get(path, 0.0))
        return found

    def used_together(self, seeds: Mapping[str, float]) -> dict[str, float]:
        """How often each file was used in one episode with these files, whose weights count; frequent ones count less."""
        found: dict[str, float] = {}
        places: defaultdict[int, float] = defaultdict(float)
        for path, weight in seeds.items():
            for place in self._places.get(path, ())[-_MOST_OF_SEED:]:
                places[place] += weight * self.files[place][path]
        for place, weight in places.items():
            files = self.files[place]
            for path, use in files.items():
                found[path] = found.get(path, 0.0) + weight * use / math.log(3 + len(files))
        for path in found:
            found[path] /= math.sqrt(2 + self.frequent.get(path, 0.0))
        return found

    def shared_terms(self, place: int, terms: Mapping[str, float]) -> list[str]:
        """Terms that a prompt has in common with an episode, the rarest first."""
        have = count_terms(self.episodes[place].episode.prompt)
        return sorted((term for term in terms if term in have), key=lambda term: (-self.rarity(term), term))


def _follow_renames(episodes: Sequence[PastEpisode]) -> dict[str, str]:
    """The present name of each file that was renamed."""
    names: dict[str, str] = {}
    for past in episodes:
        for rename in past.episode.renames:
            for old in [old for old, new in names.items() if new == rename.before]:
                names[old] = rename.after
            names[rename.before] = rename.after
            names.pop(rename.after, None)
    return names


def _find_removed(episodes: Sequence[PastEpisode]) -> set[str]:
    """Files and folders that were removed and did not come back."""
    gone: set[str] = set()
    for past in episodes:
        for use in past.episode.files:
            if use.use == "removed":
                gone.add(use.path)
            else:
                gone.discard(use.path)
    return gone


def _weigh_uses(episode: Episode, names: Mapping[str, str], gone: set[str]) -> dict[str, float]:
    found: dict[str, float] = {}
    for use in episode.files:
        path = names.get(use.path, use.path)
        weight = _USE_WEIGHTS[use.use]
        if weight and path not in gone and not any(folder in gone for folder in _folders_above(path)):
            found[path] = max(weight, found.get(path, 0.0))
    return found


def _folders_above(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]


def _index_terms(episodes: Sequence[PastEpisode]) -> tuple[dict[str, list[tuple[int, float]]], list[float]]:
    """By term the episodes that have it with its weight there, and the length of each episode as a vector."""
    postings: defaultdict[str, list[tuple[int, float]]] = defaultdict(list)
    vectors: list[dict[str, float]] = []
    for place, past in enumerate(episodes):
        vector = dict.fromkeys(count_terms(past.episode.closing), _CLOSING_WEIGHT)
        vector.update(count_terms(past.episode.prompt))
        vectors.append(vector)
        for term, weight in vector.items():
            postings[term].append((place, weight))
    count = len(episodes)
    rarity = {
        term: math.log(1 + (count - len(places) + 0.5) / (len(places) + 0.5)) for term, places in postings.items()
    }
    lengths = [math.sqrt(sum((weight * rarity[term]) ** 2 for term, weight in vector.items())) for vector in vectors]
    return dict(postings), lengths


def _sum_uses(
    episodes: Sequence[PastEpisode], files: Sequence[Mapping[str, float]]
) -> tuple[dict[str, float], dict[str, float]]:
    ages = {key: age for age, key in enumerate(dict.fromkeys(past.session for past in reversed(episodes)))}
    recent: dict[str, float] = {}
    frequent: dict[str, float] = {}
    for past, used in zip(episodes, files, strict=True):
        age = ages[past.session]
        lately, often = math.exp(-age / _RECENT_SESSIONS), math.exp(-age / _FREQUENT_SESSIONS)
        for path, weight in used.items():
            recent[path] = max(weight * lately, recent.get(path, 0.0))
            frequent[path] = frequent.get(path, 0.0) + weight * often
    return recent, frequent


def _index_files(files: Sequence[Mapping[str, float]]) -> dict[str, list[int]]:
    found: defaultdict[str, list[int]] = defaultdict(list)
    for place, used in enumerate(files):
        for path in used:
            found[path].append(place)
    return dict(found)
