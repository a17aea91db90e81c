"""Finds the lines of sessions that compactions cross, loads and judges them, and counts their boundaries.

Knows nothing of what is shown. Only sessions that have a boundary are loaded, one line at a time.
"""

import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from preheat.app.analysis.assessment import judge
from preheat.app.sessions.archive import load
from preheat.archive.queries import children, find, sessions
from preheat.errors import NotFound, UserError
from preheat.model.comparison import CompactionCheck
from preheat.model.listing import Filter, Summary
from preheat.model.progress import SILENT, Progress
from preheat.profiles import trace
from preheat.profiles.compaction import Crossing, Traced, check, crossings

_GOING_ON = ("compaction", "continuation")


class CheckedCompactions(NamedTuple):
    """Whether work went on as well after compactions as before, and what could not be looked at."""

    check: CompactionCheck
    unreadable: list[str]


def checked(
    connection: sqlite3.Connection, which: Summary | Filter, margin: float, size: int, progress: Progress = SILENT
) -> CheckedCompactions:
    """The answer for one session, or for all the chosen ones."""
    loading = Loading(connection, size, progress)
    found = loading.of_one(which) if isinstance(which, Summary) else list(loading.of_all(which))
    return CheckedCompactions(check(found, margin, size), loading.unreadable)


class Loading:
    """Sessions out of the archive, and which of them could not be read."""

    def __init__(self, connection: sqlite3.Connection, size: int, progress: Progress = SILENT) -> None:
        self._connection = connection
        self._size = size
        self._progress = progress
        self.unreadable: list[str] = []

    def of_one(self, summary: Summary) -> list[Crossing]:
        """The boundaries within a session, from the one before it, and to those that go on from it."""
        before = self._parent(summary)
        after = [child for child in children(self._connection, summary) if child.relation in _GOING_ON]
        start = [summary] if before is None else [before, summary]
        found: list[Crossing] = []
        for line in [[*start, child] for child in after] or [start]:
            known = {(each.session, each.child, each.number) for each in found}
            for crossing in self._crossings(line):
                ours = summary.key in (crossing.session, crossing.child)
                if ours and (crossing.session, crossing.child, crossing.number) not in known:
                    found.append(crossing)
        return found

    def of_all(self, chosen: Filter) -> Iterator[Crossing]:
        """The boundaries of all chosen sessions."""
        found = sessions(self._connection, chosen)
        known = {(each.agent, each.session): each for each in found}
        below: defaultdict[str, list[Summary]] = defaultdict(list)
        for each in found:
            parent = known.get((each.agent, each.parent)) if each.parent and each.relation in _GOING_ON else None
            if parent is not None:
                below[parent.key].append(each)
        going_on = {child.key for group in below.values() for child in group}
        roots = [each for each in found if each.key not in going_on and (each.compactions or each.key in below)]
        self._progress.begin("Checking", len(roots))
        try:
            for each in roots:
                yield from self._tree(each, below)
                self._progress.advance()
        finally:
            self._progress.end()

    def _tree(self, root: Summary, below: dict[str, list[Summary]]) -> Iterator[Crossing]:
        """Lines from a root: each session's own boundaries once, whatever goes on from it."""
        lines = [[root]]
        counted: set[tuple[str, str | None, int]] = set()
        while lines:
            line = lines.pop()
            while nexts := below.get(line[-1].key, []):
                if len(line) > len(below):
                    break  # sessions that say they come out of each other
                lines += [[*line, other] for other in nexts[1:]]
                line = [*line, nexts[0]]
            for crossing in self._crossings(line):
                place = (crossing.session, crossing.child, crossing.number)
                if place not in counted:
                    counted.add(place)
                    yield crossing

    def _crossings(self, line: list[Summary]) -> list[Crossing]:
        try:
            loaded = [load(self._connection, each.key) for each in line]
        except UserError as error:
            self.unreadable.append(str(error))
            return []
        traced = [
            Traced(each.key, session, trace(session, judge(session)))
            for each, session in zip(line, loaded, strict=True)
        ]
        return list(crossings(traced, self._size))

    def _parent(self, summary: Summary) -> Summary | None:
        if not summary.parent or summary.relation not in _GOING_ON:
            return None
        try:
            return find(self._connection, f"{summary.agent}:{summary.parent}")
        except NotFound:
            return None
