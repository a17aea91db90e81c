"""The sessions in the archive: synced from the agents' files, listed, found, loaded, forgotten.

Knows nothing of how a session is analysed. Light: a plain sync imports it.
"""

import os
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing, suppress
from typing import TYPE_CHECKING, NamedTuple

from preheat.agents import AGENTS
from preheat.agents.places import storable_path
from preheat.app.lazy import LazyModule
from preheat.archive import source_list
from preheat.archive.address import find_server
from preheat.archive.connect import check_if_changed, connect, connect_local, hold_sync_lock
from preheat.archive.database import ArchiveConnection
from preheat.errors import ArchiveUnusable, NotFound, ServerGone, UserError
from preheat.ingest.changes import SourceFailure, Survey, survey_agents, survey_changed, survey_files
from preheat.model.listing import ForgetPlan, SearchHit, SessionFilter, SessionSummary
from preheat.model.progress import SILENT, Progress
from preheat.settings import archive_path

if TYPE_CHECKING:
    from preheat.app import trees as _trees
    from preheat.app.analysis import assessment as _assessment
    from preheat.app.analysis import one_pass as _analysis
    from preheat.app.experiments import records as _records
    from preheat.app.sessions import server as _server
    from preheat.app.sessions import transcripts as _transcripts
    from preheat.app.team import forgetting as _forgetting
    from preheat.archive import judgements as _judgements
    from preheat.archive import notes as _notes
    from preheat.archive import queries as _queries
    from preheat.archive import raw as _raw
    from preheat.archive.rows import AnalysisRows
    from preheat.ingest import stored_sessions as _stored
    from preheat.ingest.sync import SourceResult
    from preheat.model.analysis import Episode
    from preheat.model.listing import Transcript
    from preheat.model.profile import SessionProfile
    from preheat.model.session import Session
    from preheat.quick import QuickLook as QuickLook
    from preheat.state import connect as _state
    from preheat.state import lesson_changes as _changes
else:
    # A sync needs none of these; with SQLAlchemy they would double what it costs.
    _records = LazyModule("preheat.app.experiments.records")
    _forgetting = LazyModule("preheat.app.team.forgetting")
    _judgements = LazyModule("preheat.archive.judgements")
    _assessment = LazyModule("preheat.app.analysis.assessment")
    _queries = LazyModule("preheat.archive.queries")
    _raw = LazyModule("preheat.archive.raw")
    _server = LazyModule("preheat.app.sessions.server")
    _stored = LazyModule("preheat.ingest.stored_sessions")
    _transcripts = LazyModule("preheat.app.sessions.transcripts")
    _analysis = LazyModule(
        "preheat.app.analysis.one_pass"
    )  # every learner, which a sync of a grown session does not need
    _notes = LazyModule("preheat.archive.notes")
    _trees = LazyModule("preheat.app.trees")
    _state = LazyModule("preheat.state.connect")
    _changes = LazyModule("preheat.state.lesson_changes")

SYNC_PATIENCE = 600.0
"""Seconds that a sync waits for another one."""


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
    failures: list[SourceFailure]
    problems: list[tuple[str, int | None, str]]
    seconds: float
    server: str = ""
    """Why the server that keeps the archive was not written to; empty if it was, or if there is none."""
    moved: int = 0
    """Sessions that waited in the local archive and are on the server now."""
    waiting: int = 0
    """Sessions that wait in the local archive for the server."""


def sync(
    folder: str,
    environment: Mapping[str, str] | None = None,
    agents: tuple[str, ...] = (),
    files: list[tuple[str, str]] | None = None,
    progress: Progress = SILENT,
    scan: "QuickLook | None" = None,
) -> SyncReport:
    """Read new sessions into the archive: from the places of these agents (none: of all), or from the named files (agent and
    path). `scan` is one of all agents' places that was made just now."""
    started = time.perf_counter()
    wanted = _Wanted(os.environ if environment is None else environment, agents or AGENTS, files, scan)
    with hold_sync_lock(folder, SYNC_PATIENCE, lambda: progress.wait("another sync is at work")):
        if find_server(folder) is not None:
            report = _sync_with_server(folder, wanted._replace(scan=None), progress)
            return report._replace(seconds=time.perf_counter() - started)
        with closing(connect(folder)) as connection:
            counter, found = _sync_into(connection, folder, wanted, progress)
        if files is None and wanted.agents == AGENTS:
            failed = {failure.path.partition("#")[0] for failure in counter.failures}
            source_list.save(
                folder, archive_path(folder), (item for item in found.entries if storable_path(item[0]) not in failed)
            )
    return counter.finish(time.perf_counter() - started)


class _Wanted(NamedTuple):
    """What a sync is to read."""

    environment: Mapping[str, str]
    agents: tuple[str, ...]
    files: list[tuple[str, str]] | None
    scan: "QuickLook | None"


def _sync_into(
    connection: ArchiveConnection, folder: str, wanted: _Wanted, progress: Progress
) -> "tuple[_SyncCounter, Survey]":
    """Read what is new into one archive."""
    check_if_changed(connection)
    if wanted.files is not None:
        found = survey_files(connection, wanted.files)
    elif wanted.scan is not None:
        found = survey_changed(connection, wanted.scan.changed, wanted.scan.counts, wanted.scan.entries)
    else:
        found = survey_agents(connection, wanted.environment, wanted.agents)
    report = _SyncCounter(found.found)
    report.failures = found.failures
    if found.changes:
        from preheat.ingest.sync import read_changes  # noqa: PLC0415 - where nothing has changed, nothing is read

        report.failures += read_changes(connection, folder, found.changes, report.add, load_analyser, progress)
        if report.read_whole:
            _analysis.analyse_forks(connection, progress)
    return report, found


def _sync_with_server(folder: str, wanted: _Wanted, progress: Progress) -> SyncReport:
    """Read what is new into the archive on the server, after what waits in the local one; into that while the server is away."""
    try:
        with closing(connect(folder)) as connection:
            moved = _server.move_waiting(folder, connection, progress)
            counter, _ = _sync_into(connection, folder, wanted, progress)
            _server.keep_in_step(folder, connection)
            return counter.finish(0.0)._replace(moved=moved)
    except ServerGone as error:
        why = str(error)
    with closing(connect_local(folder)) as local:
        counter, _ = _sync_into(local, folder, wanted, progress)
    return counter.finish(0.0)._replace(server=why, waiting=_server.count_waiting_sessions(folder))


def load_analyser() -> "Callable[[Session], AnalysisRows]":
    """The function that analyses a session, loaded only where one is read."""
    return _analysis.analyse_to_rows


class _SyncCounter:
    """Adds up what a sync did. A session in several files counts once."""

    def __init__(self, files: dict[str, int]) -> None:
        self._sessions: set[int] = set()
        self.read_whole = False
        """Whether any session was read from its beginning, and so was analysed."""
        self.agents = {agent: AgentReport(count) for agent, count in files.items()}
        self.redactions: dict[str, int] = {}
        self.failures: list[SourceFailure] = []
        self.problems: list[tuple[str, int | None, str]] = []

    def add(self, result: "SourceResult") -> None:
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
        self.read_whole = self.read_whole or any(rows.analysis is not None for rows in delta.sessions)
        for kind, count in delta.redactions.items():
            self.redactions[kind] = self.redactions.get(kind, 0) + count
        self.problems += [(delta.path, line, message) for line, message in delta.problems]

    def finish(self, seconds: float) -> SyncReport:
        return SyncReport(self.agents, self.redactions, self.failures, self.problems, seconds)


def open_archive(folder: str) -> ArchiveConnection:
    """A connection to the archive, which is created if there is none."""
    return connect(folder)


def forget_sessions(folder: str, keys: list[str]) -> int:
    """Delete sessions from the archive for good, while no sync runs; how many were deleted. The index of a working tree goes with
    the last session in it. What the team's server has of them is noted first, so that the next push deletes it there."""
    with hold_sync_lock(folder, SYNC_PATIENCE, lambda: None), closing(connect(folder)) as connection:
        _forgetting.queue_forgotten(folder, connection, keys)
        before = _notes.count_sessions_by_folder(connection)
        deleted = _raw.forget(connection, keys)
        if find_server(folder) is not None:
            _server.forget_copies(folder, connection, keys)
        _records.forget_records(connection)
        with _state.writing(folder) as state:
            _changes.forget_cited_lessons(state, frozenset(keys))
        after = _notes.count_sessions_by_folder(connection)
        _trees.forget_unused(folder, (each for each in before if before[each] != after.get(each)), after)
        return deleted


def plan_forgetting(connection: ArchiveConnection, names: tuple[str, ...], project: str) -> ForgetPlan:
    """What would be deleted with these sessions, or with those of a project: also their subagents, and the sessions in the same
    files."""
    waiting = (
        [_queries.find_session(connection, name) for name in names]
        if names
        else _sessions_of_project(connection, project)
    )
    doomed: dict[str, SessionSummary] = {}
    copies: dict[str, SessionSummary] = {}
    while waiting:
        summary = waiting.pop()
        if summary.key in doomed:
            continue
        doomed[summary.key] = summary
        for key in _raw.find_companions(connection, summary.key):
            with suppress(NotFound):
                waiting.append(_queries.find_session(connection, key))
        for child in _queries.list_children(connection, summary):
            if child.relation == "subagent":
                waiting.append(child)
            else:
                copies[child.key] = child
    files = _queries.list_source_paths(connection, list(doomed))
    in_order = sorted(doomed.values(), key=lambda summary: (summary.started_at or 0, summary.key))
    return ForgetPlan(in_order, files, [summary for key, summary in copies.items() if key not in doomed])


def _sessions_of_project(connection: ArchiveConnection, project: str) -> list[SessionSummary]:
    """The sessions in exactly this folder and in the folders below it."""
    paths = [project.rstrip("/\\"), os.path.abspath(os.path.expanduser(project))]
    found = [
        summary
        for path in dict.fromkeys(paths)
        for summary in _queries.list_sessions(connection, SessionFilter(project=path))
        if summary.project == path or summary.project.startswith((f"{path}/", f"{path}\\"))
    ]
    if not found:
        raise UserError(
            f"no session of project `{paths[-1]}` in the archive; `preheat sessions list` shows the projects"
        )
    return found


def load_session(connection: ArchiveConnection, key: str) -> "Session":
    """A session, read again from the bytes that the archive stores."""
    source = _raw.find_source(connection, key)
    parts = _raw.read_source(connection, source.source_id, source.generation)
    for session in _stored.read_stored_sessions(source.agent, source.path, source.part, parts):
        if f"{session.agent}:{session.id}" == key:
            return session
    raise ArchiveUnusable(f"`{key}` cannot be read from the archive with this version's reader; run `preheat sync`")


def write_source(connection: ArchiveConnection, key: str, write: Callable[[bytes], object]) -> None:
    """Write the source of a session as the archive stores it: exact but for redactions."""
    source = _raw.find_source(connection, key)
    for piece in _raw.read_source(connection, source.source_id, source.generation):
        write(piece)


class Sessions:
    """The sessions in the archive of a folder. One is named by its id, the beginning of it, or `latest`."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    # Lists.
    def sessions(self, chosen: SessionFilter, limit: int | None = None) -> list[SessionSummary]:
        """The sessions that match a filter, the newest first."""
        with self._open_archive() as connection:
            return _queries.list_sessions(connection, chosen, limit)

    def count(self, chosen: SessionFilter) -> int:
        """How many sessions match a filter."""
        with self._open_archive() as connection:
            return _queries.count_sessions(connection, chosen)

    def count_unanalysed(self) -> int:
        """How many sessions have changed since they were analysed: lists show only failures that their programs reported."""
        with self._open_archive() as connection:
            return _queries.count_unanalysed(connection)

    def find(self, name: str) -> SessionSummary:
        """The summary of a session by name. Raises NotFound."""
        with self._open_archive() as connection:
            return _queries.find_session(connection, name)

    def children(self, name: str) -> list[SessionSummary]:
        """The subagents, forks and continuations of a session."""
        with self._open_archive() as connection:
            return _queries.list_children(connection, _queries.find_session(connection, name))

    def short_names(self, keys: Iterable[str]) -> dict[str, str]:
        """By key: a short name by which a person can name that session; the key itself if the session is gone."""
        with self._open_archive() as connection:
            return _queries.short_names_of_keys(connection, keys)

    def search(
        self, words: str, chosen: SessionFilter, kinds: tuple[str, ...] = (), limit: int = 20
    ) -> list[SearchHit]:
        """Passages of messages, commands and outputs that contain the words, the best first."""
        with self._open_archive() as connection:
            return list(_queries.search(connection, words, chosen, kinds, limit))

    def search_terms(self, words: str) -> list[str]:
        """The words and phrases of a search, for highlighting them."""
        return _queries.search_terms(words)

    # One session.
    def load(self, name: str) -> "Session":
        """A session with all its events, read again from its stored bytes."""
        with self._open_archive() as connection:
            return load_session(connection, _queries.find_session(connection, name).key)

    def episodes(self, name: str) -> "tuple[Episode, ...]":
        """The episodes of a session, in order; none if it has not been analysed."""
        with self._open_archive() as connection:
            return _notes.load_episodes(connection, _queries.find_session(connection, name).key)

    def transcript(self, name: str) -> "Transcript":
        """A session with the outcome of each of its calls."""
        with self._open_archive() as connection:
            key = _queries.find_session(connection, name).key
            stored, copied = (
                _judgements.load_call_records(connection, key),
                _judgements.load_copied_calls(connection, key),
            )
            return _transcripts.make_transcript(load_session(connection, key), stored, copied)

    def profile(self, name: str) -> "SessionProfile":
        """The profile of a session."""
        with self._open_archive() as connection:
            key = _queries.find_session(connection, name).key
            return _assessment.profile_without(
                load_session(connection, key), _judgements.load_copied_calls(connection, key)
            )

    def source_path(self, name: str) -> str:
        """The file or database that a session was read from."""
        with self._open_archive() as connection:
            return _raw.find_source(connection, _queries.find_session(connection, name).key).path

    def write_source(self, name: str, write: Callable[[bytes], object]) -> None:
        """Write the source of a session as the archive stores it: exact but for redactions."""
        with self._open_archive() as connection:
            write_source(connection, _queries.find_session(connection, name).key, write)

    # Forgetting.
    def plan_forgetting(self, names: Iterable[str] = (), project: str = "") -> ForgetPlan:
        """What would be deleted with these sessions, or with all sessions of a project's folder and of the folders below it."""
        with self._open_archive() as connection:
            return plan_forgetting(connection, tuple(names), project)

    def forget(self, keys: Iterable[str]) -> int:
        """Delete sessions from the archive for good; how many were deleted."""
        return forget_sessions(self._folder, list(keys))

    def _open_archive(self) -> closing[ArchiveConnection]:
        return closing(connect(self._folder))
