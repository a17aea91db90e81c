"""The first stages: read what agents left on disk into the archive, analysed, and give it back.

Knows nothing of how a session is analysed.
"""

import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from preheat.agents import AGENTS
from preheat.agents.places import storable
from preheat.app.later import Later
from preheat.archive import seen
from preheat.archive.connect import connect
from preheat.archive.lock import sync_lock
from preheat.ingest.changes import survey, survey_again, survey_files
from preheat.model.listing import Filter, Hit, Summary
from preheat.model.progress import SILENT, Progress
from preheat.settings import archive_path

if TYPE_CHECKING:
    from preheat.app import analysis as _analysis
    from preheat.archive import episodes as _episodes
    from preheat.archive import queries as _queries
    from preheat.archive.rows import AnalysisRows
    from preheat.ingest.sync import Failure, Result
    from preheat.model.episode import Episode
    from preheat.model.session import Session
    from preheat.quick import Look
else:
    _analysis = Later("preheat.app.analysis")  # every learner, which a sync of a grown session does not need
    _episodes = Later("preheat.archive.episodes")
    _queries = Later("preheat.archive.queries")  # SQLAlchemy, which a sync does not need

PATIENCE = 600.0
"""How long a sync waits for another one."""


class AgentReport(NamedTuple):
    """What a sync did for one agent."""

    files: int
    read: int = 0
    sessions: int = 0
    calls: int = 0
    messages: int = 0
    bytes: int = 0
    problems: int = 0


class SyncReport(NamedTuple):
    """What a sync did."""

    agents: dict[str, AgentReport]
    redactions: dict[str, int]
    failures: "list[Failure]"
    problems: list[tuple[str, int | None, str]]
    seconds: float


def sync(
    folder: str,
    environment: Mapping[str, str] | None = None,
    agents: tuple[str, ...] = AGENTS,
    files: list[tuple[str, str]] | None = None,
    progress: Progress = SILENT,
    seen_already: "Look | None" = None,
) -> SyncReport:
    """Bring the archive up to date with the agents' places, or with the named files (agent and path).

    `seen_already` is a look at the places of all agents that was taken just now.
    """
    started = time.perf_counter()
    with sync_lock(folder, PATIENCE, lambda: progress.wait("another sync is at work")):
        connection = connect(folder)
        try:
            if files is not None:
                found = survey_files(connection, files)
            elif seen_already is not None:
                found = survey_again(connection, seen_already)
            else:
                found = survey(connection, os.environ if environment is None else environment, agents)
            report = _Counting(found.found)
            if found.changes:
                from preheat.ingest.sync import run  # later: nothing of it is needed where nothing has changed

                report.failures = run(connection, folder, found.changes, report.add, load_analysis, progress)
        finally:
            connection.close()
        if files is None and agents == AGENTS:
            failed = {failure.path.partition("#")[0] for failure in report.failures}
            seen.save(folder, archive_path(folder), (item for item in found.entries if storable(item[0]) not in failed))
    return report.finish(time.perf_counter() - started)


def load_analysis() -> "Callable[[Session], AnalysisRows]":
    """What makes all of a session that the archive keeps beside its bytes."""
    return _analysis.analysed_rows


class _Counting:
    """Adds up what a sync did. A session counts once, in however many files it stands."""

    def __init__(self, files: dict[str, int]) -> None:
        self._sessions: set[int] = set()
        self.agents = {agent: AgentReport(count) for agent, count in files.items()}
        self.redactions: dict[str, int] = {}
        self.failures: list[Failure] = []
        self.problems: list[tuple[str, int | None, str]] = []

    def add(self, result: "Result") -> None:
        delta = result.delta
        before = self.agents.get(delta.agent) or AgentReport(0)
        self.agents[delta.agent] = before._replace(
            read=before.read + (not delta.part),  # a database counts once, not by its sessions
            sessions=before.sessions + len(set(result.sessions) - self._sessions),
            calls=before.calls + sum(rows.counts["calls"] for rows in delta.sessions),
            messages=before.messages + sum(rows.counts["messages"] for rows in delta.sessions),
            bytes=before.bytes + delta.size,
            problems=before.problems + len(delta.problems),
        )
        self._sessions.update(result.sessions)
        for kind, count in delta.redactions.items():
            self.redactions[kind] = self.redactions.get(kind, 0) + count
        self.problems += [(delta.path, line, message) for line, message in delta.problems]

    def finish(self, seconds: float) -> SyncReport:
        return SyncReport(self.agents, self.redactions, self.failures, self.problems, seconds)


def opened(folder: str) -> sqlite3.Connection:
    """The archive for asking; an empty one is made if there is none."""
    return connect(folder)


def forget(folder: str, keys: list[str]) -> int:
    """Delete sessions from the archive for good; no sync runs meanwhile. How many went."""
    from preheat.app.trials import forget as forget_lots
    from preheat.archive.raw import forget as forget_sessions

    with sync_lock(folder, PATIENCE, lambda: None):
        connection = connect(folder)
        try:
            gone = forget_sessions(connection, keys)
            forget_lots(folder, connection)
            return gone
        finally:
            connection.close()


def has_archive(folder: str) -> bool:
    return os.path.exists(archive_path(folder))


def load(connection: sqlite3.Connection, key: str) -> "Session":
    """A session out of the archive, read anew from its stored bytes."""
    from preheat.archive.raw import pieces, stored
    from preheat.errors import ArchiveUnusable
    from preheat.ingest.stored import sessions_in

    source = stored(connection, key)
    parts = pieces(connection, source.source_id, source.generation)
    for session in sessions_in(source.agent, source.path, source.part, parts):
        if f"{session.agent}:{session.id}" == key:
            return session
    raise ArchiveUnusable(f"`{key}` cannot be read from the archive with this version's reader; run `preheat sync`")


def raw_bytes(connection: sqlite3.Connection, key: str, write: Callable[[bytes], object]) -> None:
    """Write a session's source as the archive keeps it: exact but for redactions."""
    from preheat.archive.raw import pieces, stored

    source = stored(connection, key)
    for piece in pieces(connection, source.source_id, source.generation):
        write(piece)


class Sessions:
    """The sessions in the archive of a folder. Names are ids, beginnings of them, or `latest`."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def sessions(self, chosen: Filter, limit: int | None = None) -> list[Summary]:
        """Those that fit, the newest first."""
        with self._opened() as connection:
            return _queries.sessions(connection, chosen, limit)

    def find(self, name: str) -> Summary:
        """One by its name. Raises NotFound."""
        with self._opened() as connection:
            return _queries.find(connection, name)

    def short_names(self, keys: Iterable[str]) -> dict[str, str]:
        """By key: a short name that a person can give to name that session again."""
        with self._opened() as connection:
            return _queries.short_names(connection, [_queries.find(connection, key) for key in dict.fromkeys(keys)])

    def load(self, name: str) -> "Session":
        """One with all its events, read anew from its stored bytes."""
        with self._opened() as connection:
            return load(connection, _queries.find(connection, name).key)

    def episodes(self, name: str) -> "tuple[Episode, ...]":
        """Each prompt of one with what followed it, in order; none where it has not been analysed."""
        with self._opened() as connection:
            return _episodes.episodes_of(connection, _queries.find(connection, name).key)

    def search(self, words: str, chosen: Filter, kinds: tuple[str, ...] = (), limit: int = 20) -> list[Hit]:
        """Passages in what was said and run, the best first."""
        with self._opened() as connection:
            return list(_queries.search(connection, words, chosen, kinds, limit))

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        connection = connect(self._folder)
        try:
            yield connection
        finally:
            connection.close()
