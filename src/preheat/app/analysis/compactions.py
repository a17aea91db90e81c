"""Finds the compactions in chains of sessions, and checks whether work went on as well after them as before.

Knows nothing of how that is shown. Only sessions with a compaction are loaded, one chain at a time.
"""

import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from preheat.app.analysis.assessment import judge
from preheat.app.later import LazyModule
from preheat.app.sessions.archive import load_session
from preheat.archive.queries import find_session, list_children, list_sessions
from preheat.errors import NotFound, UserError
from preheat.model.comparison import CompactionCheck
from preheat.model.listing import SessionFilter, SessionSummary
from preheat.model.progress import SILENT, Progress
from preheat.profiles import trace

if TYPE_CHECKING:
    from preheat.profiles import compaction as _compaction
    from preheat.profiles.compaction import BoundaryCalls
else:
    _compaction = LazyModule("preheat.profiles.compaction")  # numpy and scipy

_CONTINUATIONS = ("compaction", "continuation")
"""Relations of a session that goes on with the work of its parent."""


class CheckedCompactions(NamedTuple):
    """Whether work went on as well after compactions as before, and which sessions could not be read."""

    check: CompactionCheck
    unreadable: list[str]


def check_compactions(
    connection: sqlite3.Connection,
    which: SessionSummary | SessionFilter,
    margin: float,
    size: int,
    progress: Progress = SILENT,
) -> CheckedCompactions:
    """Check the compactions of one session, or of all chosen ones."""
    loader = CompactionLoader(connection, size, progress)
    crossings_found = (
        loader.find_in_session(which) if isinstance(which, SessionSummary) else list(loader.find_in_all(which))
    )
    return CheckedCompactions(_compaction.check_boundaries(crossings_found, margin, size), loader.unreadable)


class CompactionLoader:
    """Loads sessions with compactions from the archive, and notes which of them could not be read."""

    def __init__(self, connection: sqlite3.Connection, size: int, progress: Progress = SILENT) -> None:
        self._connection = connection
        self._size = size
        self._progress = progress
        self.unreadable: list[str] = []

    def find_in_session(self, summary: SessionSummary) -> "list[BoundaryCalls]":
        """The compactions within a session, before it (from its parent) and after it (to its continuations)."""
        before = self._parent(summary)
        after = [child for child in list_children(self._connection, summary) if child.relation in _CONTINUATIONS]
        chain_start = [summary] if before is None else [before, summary]
        found: list[BoundaryCalls] = []
        for chain in [[*chain_start, child] for child in after] or [chain_start]:
            places = {(crossing_found.session, crossing_found.child, crossing_found.number) for crossing_found in found}
            for crossing in self._crossings(chain):
                concerns_it = summary.key in (crossing.session, crossing.child)
                if concerns_it and (crossing.session, crossing.child, crossing.number) not in places:
                    found.append(crossing)
        return found

    def find_in_all(self, chosen: SessionFilter) -> "Iterator[BoundaryCalls]":
        """The compactions of all chosen sessions."""
        found = list_sessions(self._connection, chosen)
        known = {(each.agent, each.session): each for each in found}
        continuations: defaultdict[str, list[SessionSummary]] = defaultdict(list)
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

    def _chain_crossings(
        self, root: SessionSummary, continuations: dict[str, list[SessionSummary]]
    ) -> "Iterator[BoundaryCalls]":
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

    def _crossings(self, chain: list[SessionSummary]) -> "list[BoundaryCalls]":
        try:
            loaded = [load_session(self._connection, each.key) for each in chain]
        except UserError as error:
            self.unreadable.append(str(error))
            return []
        traced = [
            _compaction.TracedSession(each.key, session, trace(session, judge(session)))
            for each, session in zip(chain, loaded, strict=True)
        ]
        return list(_compaction.find_boundaries(traced, self._size))

    def _parent(self, summary: SessionSummary) -> SessionSummary | None:
        if not summary.parent or summary.relation not in _CONTINUATIONS:
            return None
        try:
            return find_session(self._connection, f"{summary.agent}:{summary.parent}")
        except NotFound:
            return None
