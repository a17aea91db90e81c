"""The sessions of this machine as rows for a team: found in the archive, with what a person said of their projects.

Knows no server.
"""

import io
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from typing import NamedTuple

import zstandard

from preheat.app.analysis.one_pass import VERSION
from preheat.app.costs import add_up_costs
from preheat.app.project_assignment import assign_archive
from preheat.app.sessions.archive import load_session
from preheat.app.sessions.exports import json_lines
from preheat.archive.connect import connect
from preheat.archive.database import ArchiveConnection
from preheat.archive.judgements import load_call_records, load_copied_calls, load_profile
from preheat.archive.notes import load_episodes
from preheat.archive.packing import compress
from preheat.archive.projects import load_project_names, load_session_projects
from preheat.archive.queries import list_sessions
from preheat.errors import UserError
from preheat.ingest.redact import redact
from preheat.membership import Membership
from preheat.model.cost import Cost
from preheat.model.listing import SessionFilter, SessionSummary
from preheat.model.pushed import PushedRows
from preheat.model.team import Level, ProjectPush
from preheat.prices import price_list
from preheat.team.agreement import default_level, hash_fields, is_agreed, repository_of
from preheat.team.rows import hash_origin, hash_session, make_rows

_MOST_TRANSCRIPT = 1 << 29
_LARGEST_WINDOW = 1 << 27


class LocalSession(NamedTuple):
    """A session of this machine that belongs to a project."""

    summary: SessionSummary
    project: str
    """The key of its project."""
    hash: str


class LocalSessions(NamedTuple):
    """All sessions of this machine that belong to a project, and these projects."""

    sessions: tuple[LocalSession, ...]
    projects: dict[str, ProjectPush]
    """By their keys."""


def find_local_sessions(folder: str, membership: Membership | None) -> LocalSessions:
    """The sessions in the archive, with the level of each project: as the person said, else the default."""
    with closing(connect(folder)) as connection:
        assign_archive(connection)
        names = load_project_names(connection)
        keys = {name: key for key, name in names.items()}
        projects = {session: keys[name] for session, name in load_session_projects(connection).items() if name in keys}
        found = tuple(
            LocalSession(each, projects[each.key], hash_session(each.key))
            for each in list_sessions(connection, SessionFilter())
            if each.key in projects and each.starter != "preheat"
        )
    counts: dict[str, int] = {}
    for each in found:
        counts[each.project] = counts.get(each.project, 0) + 1
    return LocalSessions(found, {key: _describe_project(key, names[key], counts[key], membership) for key in counts})


def _describe_project(key: str, name: str, sessions: int, membership: Membership | None) -> ProjectPush:
    stated = membership.projects.get(key) if membership is not None else None
    level: Level = stated.level if stated is not None else default_level(key)
    return ProjectPush(
        key=key,
        name=name,
        repository=repository_of(key, name),
        level=level,
        is_agreed=level == "nothing" or (stated is not None and is_agreed(level, stated.fields)),
        sessions=sessions,
    )


def find_origin(session: LocalSession, project: ProjectPush) -> str:
    """What the rows of a session are made of, as a hash."""
    return hash_origin(
        session.summary, project.level, project.repository, VERSION, hash_fields(project.level), price_list()
    )


class RowMaker:
    """Makes the rows of sessions from the archive; what all of them cost is added up once, when the first is asked for."""

    def __init__(self, folder: str, connection: ArchiveConnection) -> None:
        self._folder = folder
        self._connection = connection
        self._costs: Mapping[str, Cost] | None = None

    def make(self, session: LocalSession, project: ProjectPush) -> PushedRows | None:
        """The rows of a session; None if it has not been analysed yet."""
        key = session.summary.key
        profile = load_profile(self._connection, key)
        if profile is None:
            return None
        if self._costs is None:
            found = add_up_costs(self._folder, SessionFilter(), "session").costs
            self._costs = {each.name: each for each in found}
        return make_rows(
            session.summary,
            profile,
            load_call_records(self._connection, key),
            load_copied_calls(self._connection, key),
            load_episodes(self._connection, key),
            self._costs.get(key),
            repository=project.repository,
            level=project.level,
            origin=find_origin(session, project),
            is_secret=_has_secret,
            transcript=make_transcript(self._connection, key) if project.level == "transcripts" else None,
        )


def _has_secret(text: str) -> bool:
    return bool(redact(text.encode("utf-8", "replace"))[1])


def make_transcript(connection: ArchiveConnection, key: str) -> bytes:
    """A whole session for reviewers: without secrets by today's rules, and without the path of the home folder."""
    lines = io.BytesIO()
    for line in json_lines(load_session(connection, key)):
        lines.write(line + b"\n")
    text = lines.getvalue()
    home = os.path.expanduser("~").encode()
    if len(home) > 1:
        text = text.replace(home + b"/", b"~/").replace(home, b"~")
    return compress(redact(text)[0])


def read_transcript(data: bytes) -> bytes:
    """A transcript that somebody pushed, unpacked: nobody knows who packed it, so it is read up to a limit. Raises UserError."""
    try:
        reader = zstandard.ZstdDecompressor(max_window_size=_LARGEST_WINDOW).stream_reader(data)
        text = reader.read(_MOST_TRANSCRIPT + 1)
    except (zstandard.ZstdError, MemoryError) as error:
        raise UserError(f"this transcript is damaged on the server ({error})") from error
    if len(text) > _MOST_TRANSCRIPT:
        raise UserError(f"this transcript is larger than {_MOST_TRANSCRIPT >> 20} MB, which none of ours is")
    return bytes(text)


def batch_rows(
    made: Iterator[PushedRows | None], most: int, most_bytes: int, advance: Callable[[], None]
) -> Iterator[list[PushedRows]]:
    """Rows of sessions in batches of at most so many, or so many bytes of transcripts."""
    batch: list[PushedRows] = []
    size = 0
    for each in made:
        advance()
        if each is None:
            continue
        batch.append(each)
        size += len(each.transcript.content) if each.transcript is not None else 0
        if len(batch) >= most or size >= most_bytes:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
