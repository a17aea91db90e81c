"""Finds the compactions in chains of sessions, and checks whether work went on as well after them as before.

Knows nothing of how that is shown. Only sessions with a compaction are loaded, one chain at a time.
"""

import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from preheat.app.analysis.assessment import judge
from preheat.app.later import Later
from preheat.app.sessions.archive import load
from preheat.archive.queries import children, find, sessions
from preheat.errors import NotFound, UserError
from preheat.model.comparison import CompactionCheck
from preheat.model.listing import Filter, Summary
from preheat.model.progress import SILENT, Progress
from preheat.profiles import trace

if TYPE_CHECKING:
    from preheat.profiles import compaction as _compaction
    from preheat.profiles.compaction import Crossing
else:
    _compaction = Later("preheat.profiles.compaction")  # numpy and scipy

_CONTINUATIONS = ("compaction", "continuation")
"""Relations of a session that goes on with the work of its parent."""


class CheckedCompactions(NamedTuple):
    """Whether work went on as well after compactions as before, and which sessions could not be read."""

    check: CompactionCheck
    unreadable: list[str]


def checked(
    connection: sqlite3.Connection, which: Summary | Filter, margin: float, size: int, progress: Progress = SILENT
) -> CheckedCompactions:
    """Check the compactions of one session, or of all chosen ones."""
    loader = Loading(connection, size, progress)
    crossings_found = loader.of_one(which) if isinstance(which, Summary) else list(loader.of_all(which))
    return CheckedCompactions(_compaction.check(crossings_found, margin, size), loader.unreadable)


class Loading:
    """Loads sessions with compactions from the archive, and notes which of them could not be read."""

    def __init__(self, connection: sqlite3.Connection, size: int, progress: Progress = SILENT) -> None:
        self._connection = connection
        self._size = size
        self._progress = progress
        self.unreadable: list[str] = []

    def of_one(self, summary: Summary) -> "list[Crossing]":
        """The compactions within a session, before it (from its parent) and after it (to its continuations)."""
        before = self._parent(summary)
        after = [child for child in children(self._connection, summary) if child.relation in _CONTINUATIONS]
        chain_start = [summary] if before is None else [before, summary]
        found: list[Crossing] = []
        for chain in [[*chain_start, child] for child in after] or [chain_start]:
            places = {(crossing_found.session, crossing_found.child, crossing_found.number) for crossing_found in found}
            for crossing in self._crossings(chain):
                concerns_it = summary.key in (crossing.session, crossing.child)
                if concerns_it and (crossing.session, crossing.child, crossing.number) not in places:
                    found.append(crossing)
        return found

    def of_all(self, chosen: Filter) -> "Iterator[Crossing]":
        """The compactions of all chosen sessions."""
        found = sessions(self._connection, chosen)
        known = {(each.agent, each.session): each for each in found}
        continuations: defaultdict[str, list[Summary]] = defaultdict(list)
        for each in found:
            parent = known.get((each.agent, each.parent)) if each.parent and each.relation in _CONTINUATIONS else None
            if parent is not None:
                continuations[parent.key].append(each)
        continued = {child.key for group in continuations.values() for child in group}
        roots = [
            each for each in found if each.key not in continued and (each.compactions or each.key in continuations)
        ]
        self._progress.begin("Checking", len(roots))
        try:
            for each in roots:
                yield from self._chain_crossings(each, continuations)
                self._progress.advance()
        finally:
            self._progress.end()

    def _chain_crossings(self, root: Summary, continuations: dict[str, list[Summary]]) -> "Iterator[Crossing]":
        """The compactions in all chains that begin with a session, each one once."""
        chains = [[root]]
        seen: set[tuple[str, str | None, int]] = set()
        while chains:
            chain = chains.pop()
            while following := continuations.get(chain[-1].key, []):
                if len(chain) > len(continuations):
                    break  # sessions that name each other as parents
                chains += [[*chain, other] for other in following[1:]]
                chain = [*chain, following[0]]
            for crossing in self._crossings(chain):
                place = (crossing.session, crossing.child, crossing.number)
                if place not in seen:
                    seen.add(place)
                    yield crossing

    def _crossings(self, chain: list[Summary]) -> "list[Crossing]":
        try:
            loaded = [load(self._connection, each.key) for each in chain]
        except UserError as error:
            self.unreadable.append(str(error))
            return []
        traced = [
            _compaction.Traced(each.key, session, trace(session, judge(session)))
            for each, session in zip(chain, loaded, strict=True)
        ]
        return list(_compaction.crossings(traced, self._size))

    def _parent(self, summary: Summary) -> Summary | None:
        if not summary.parent or summary.relation not in _CONTINUATIONS:
            return None
        try:
            return find(self._connection, f"{summary.agent}:{summary.parent}")
        except NotFound:
            return None
