"""A graph-ranked repository map in the manner of aider, as a baseline: files are nodes, a file that uses a name points to the
files that define it, names of the prompt weigh more, and PageRank starts at the files that the prompt names.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable

import numpy as np
from scipy.sparse import csr_matrix

from preheat.tree.index import TreeIndex
from preheat.tree.sources import CommittedTree, FoundFile

_NAME = re.compile(rb"[A-Za-z_]\w{3,60}")
_DAMPING, _ROUNDS = 0.85, 30
_MENTIONED, _LONG_NAME, _PRIVATE, _COMMON = 10.0, 10.0, 0.1, 0.1
_MOST_DEFINITIONS = 5
"""A name that more files define counts less."""
_LARGEST = 300_000


class NameCache:
    """The names in a file, by the stamp of its contents: most files stay the same from one commit to the next."""

    def __init__(self) -> None:
        self._known: dict[str, Counter[str]] = {}

    def count(self, tree: CommittedTree, files: dict[str, FoundFile]) -> dict[str, Counter[str]]:
        """How often each file has each name."""
        missing = [
            (path, each) for path, each in files.items() if each.stamp not in self._known and each.size < _LARGEST
        ]
        for path, data in tree.read_files(missing):
            names = _NAME.findall(data or b"") if b"\0" not in (data or b"")[:2000] else ()
            self._known[files[path].stamp] = Counter(name.decode() for name in names)
        return {path: self._known.get(each.stamp, Counter()) for path, each in files.items()}


def rank_by_graph(prompt: str, index: TreeIndex, names: dict[str, Counter[str]], named: Iterable[str]) -> list[str]:
    """The files of a tree, by their rank for a prompt."""
    paths = sorted(names)
    places = {path: place for place, path in enumerate(paths)}
    defined: defaultdict[str, set[int]] = defaultdict(set)
    for path in paths:
        for symbol in index.symbols(path):
            defined[symbol.name].add(places[path])
    mentioned = {found.decode() for found in _NAME.findall(prompt.encode("utf-8", "replace"))}
    rows, columns, weights = [], [], []
    for path in paths:
        for name, count in names[path].items():
            for target in defined.get(name, ()):
                rows.append(target)
                columns.append(places[path])
                weights.append(_weigh(name, len(defined[name]), name in mentioned) * math.sqrt(count))
    size = len(paths)
    graph = csr_matrix((weights, (rows, columns)), shape=(size, size))
    sums = np.asarray(graph.sum(axis=0)).ravel()
    start = np.full(size, 1.0 / max(1, size))
    for path in named:
        if path in places:
            start[places[path]] += 10.0
    start /= start.sum() or 1.0
    ranks = start.copy()
    for _ in range(_ROUNDS):
        spread = np.divide(ranks, sums, out=np.zeros(size), where=sums > 0)
        ranks = _DAMPING * (graph @ spread + ranks[sums == 0].sum() * start) + (1 - _DAMPING) * start
    return [paths[place] for place in np.argsort(-ranks, kind="stable")[:50]]


def _weigh(name: str, definitions: int, is_mentioned: bool) -> float:
    weight = _MENTIONED if is_mentioned else 1.0
    if len(name) >= 8 and (("_" in name) or (name.lower() != name)):
        weight *= _LONG_NAME
    if name.startswith("_"):
        weight *= _PRIVATE
    return weight * (_COMMON if definitions > _MOST_DEFINITIONS else 1.0)
