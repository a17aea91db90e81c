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
from preheat.errors import ArchiveUnusable
from preheat.ingest.changes import survey, survey_again, survey_files
from preheat.model.listing import Filter, Hit, Summary
from preheat.model.progress import SILENT, Progress
from preheat.settings import archive_path

if TYPE_CHECKING:
    from preheat.app.analysis import one_pass as _analysis
    from preheat.app.analysis import profile as _profile
    from preheat.app.experiments import state as _experiment_state
    from preheat.app.sessions import forgetting as _forgetting
    from preheat.app.sessions import transcripts as _transcripts
    from preheat.archive import episodes as _episodes
    from preheat.archive import judgements as _judgements
    from preheat.archive import queries as _queries
    from preheat.archive import raw as _raw
    from preheat.archive.rows import AnalysisRows
    from preheat.ingest import stored as _stored
    from preheat.ingest.sync import Failure, Result
    from preheat.model.episode import Episode
    from preheat.model.listing import ForgetPlan
    from preheat.model.profile import SessionProfile
    from preheat.model.session import Session
    from preheat.model.transcript import Transcript
    from preheat.quick import Look as Look
else:
    # A sync needs none of these; with SQLAlchemy they would double what it costs.
    _experiment_state = Later("preheat.app.experiments.state")
    _forgetting = Later("preheat.app.sessions.forgetting")
    _judgements = Later("preheat.archive.judgements")
    _profile = Later("preheat.app.analysis.profile")
    _queries = Later("preheat.archive.queries")
    _raw = Later("preheat.archive.raw")
    _stored = Later("preheat.ingest.stored")
    _transcripts = Later("preheat.app.sessions.transcripts")
    _analysis = Later("preheat.app.analysis.one_pass")  # every learner, which a sync of a grown session does not need
    _episodes = Later("preheat.archive.episodes")

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
    agents: tuple[str, ...] = (),
    files: list[tuple[str, str]] | None = None,
    progress: Progress = SILENT,
    seen_already: "Look | None" = None,
) -> SyncReport:
    """Bring the archive up to date with the places of these agents (none: of all), or with the named files (agent and path).

    `seen_already` is a look at the places of all agents that was taken just now.
    """
    started = time.perf_counter()
    agents = agents or AGENTS
    with sync_lock(folder, PATIENCE, lambda: progress.wait("another sync is at work")):
        connection = connect(folder)
        try:
            if files is not None:
                found = survey_files(connection, files)
            elif seen_already is not None:
                found = survey_again(connection, seen_already.changed, seen_already.counts, seen_already.entries)
            else:
                found = survey(connection, os.environ if environment is None else environment, agents)
            report = _Counting(found.found)
            if found.changes:
                from preheat.ingest.sync import run  # noqa: PLC0415 - where nothing has changed, nothing is read

                report.failures = run(connection, folder, found.changes, report.add, load_analysis, progress)
                if report.whole:
                    _analysis.analyse_forks(connection, progress)
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
        self.whole = False
        """Whether a session was read from its beginning, and so analysed."""
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
        self.whole = self.whole or any(rows.analysis is not None for rows in delta.sessions)
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
    with sync_lock(folder, PATIENCE, lambda: None):
        connection = connect(folder)
        try:
            gone = _raw.forget(connection, keys)
            _experiment_state.forget(connection)
            return gone
        finally:
            connection.close()


def has_archive(folder: str) -> bool:
    return os.path.exists(archive_path(folder))


def load(connection: sqlite3.Connection, key: str) -> "Session":
    """A session out of the archive, read anew from its stored bytes."""
    source = _raw.stored(connection, key)
    parts = _raw.pieces(connection, source.source_id, source.generation)
    for session in _stored.sessions_in(source.agent, source.path, source.part, parts):
        if f"{session.agent}:{session.id}" == key:
            return session
    raise ArchiveUnusable(f"`{key}` cannot be read from the archive with this version's reader; run `preheat sync`")


def raw_bytes(connection: sqlite3.Connection, key: str, write: Callable[[bytes], object]) -> None:
    """Write a session's source as the archive keeps it: exact but for redactions."""
    source = _raw.stored(connection, key)
    for piece in _raw.pieces(connection, source.source_id, source.generation):
        write(piece)


class Sessions:
    """The sessions in the archive of a folder. Names are ids, beginnings of them, or `latest`."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    # Which there are.
    def sessions(self, chosen: Filter, limit: int | None = None) -> list[Summary]:
        """Those that fit, the newest first."""
        with self._opened() as connection:
            return _queries.sessions(connection, chosen, limit)

    def count(self, chosen: Filter) -> int:
        """How many fit."""
        with self._opened() as connection:
            return _queries.count(connection, chosen)

    def count_unanalysed(self) -> int:
        """How many have changed since they were analysed: what lists say of their failures is what their programs said."""
        with self._opened() as connection:
            return _queries.count_unanalysed(connection)

    def find(self, name: str) -> Summary:
        """One by its name. Raises NotFound."""
        with self._opened() as connection:
            return _queries.find(connection, name)

    def children(self, name: str) -> list[Summary]:
        """The sessions that came out of one: subagents, forks, continuations."""
        with self._opened() as connection:
            return _queries.children(connection, _queries.find(connection, name))

    def short_names(self, keys: Iterable[str]) -> dict[str, str]:
        """By key: a short name that a person can give to name that session again; the key of one that is gone."""
        with self._opened() as connection:
            return _queries.names_of_keys(connection, keys)

    def search(self, words: str, chosen: Filter, kinds: tuple[str, ...] = (), limit: int = 20) -> list[Hit]:
        """Passages in what was said and run, the best first."""
        with self._opened() as connection:
            return list(_queries.search(connection, words, chosen, kinds, limit))

    def search_terms(self, words: str) -> list[str]:
        """The words and phrases of a search, for marking them where they were found."""
        return _queries.search_terms(words)

    # What is in one.
    def load(self, name: str) -> "Session":
        """One with all its events, read anew from its stored bytes."""
        with self._opened() as connection:
            return load(connection, _queries.find(connection, name).key)

    def episodes(self, name: str) -> "tuple[Episode, ...]":
        """Each prompt of one with what followed it, in order; none where it has not been analysed."""
        with self._opened() as connection:
            return _episodes.episodes_of(connection, _queries.find(connection, name).key)

    def transcript(self, name: str) -> "Transcript":
        """One with what came of each of its calls, as every other screen counts them."""
        with self._opened() as connection:
            key = _queries.find(connection, name).key
            stored, copied = _judgements.records_of(connection, key), _judgements.copied_calls(connection, key)
            return _transcripts.transcript_of(load(connection, key), stored, copied)

    def profile(self, name: str) -> "SessionProfile":
        """One, measured."""
        with self._opened() as connection:
            return _profile.profile_of(connection, name)

    def path(self, name: str) -> str:
        """The file or database that one was read from."""
        with self._opened() as connection:
            return _raw.stored(connection, _queries.find(connection, name).key).path

    def write_raw(self, name: str, write: Callable[[bytes], object]) -> None:
        """Write the source of one as the archive keeps it: exact but for redactions."""
        with self._opened() as connection:
            raw_bytes(connection, _queries.find(connection, name).key, write)

    # Forgetting.
    def plan_forgetting(self, names: Iterable[str] = (), project: str = "") -> "ForgetPlan":
        """What goes when these are forgotten, or all of a project (a folder) and of the folders below it."""
        with self._opened() as connection:
            return _forgetting.plan(connection, tuple(names), project)

    def forget(self, keys: Iterable[str]) -> int:
        """Delete sessions from the archive for good; how many went."""
        return forget(self._folder, list(keys))

    # What a person says of one.
    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        connection = connect(self._folder)
        try:
            yield connection
        finally:
            connection.close()
