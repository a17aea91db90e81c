"""Pushes to the team's server what a person allows, and shows before what that is.

Nothing is sent of a project to whose fields the person has not agreed.
The server knows what it has, so a push that was cut off is continued by the next one, and two at once send nothing twice.
"""

import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import Any, NamedTuple

from msgspec.structs import replace

from preheat.app.team.lessons import find_proposals, propose_lesson
from preheat.app.team.local_rows import (
    LocalSession,
    LocalSessions,
    RowMaker,
    batch_rows,
    find_local_sessions,
    find_origin,
)
from preheat.archive.connect import connect as connect_archive
from preheat.archive.packing import decompress
from preheat.errors import UserError
from preheat.membership import (
    Membership,
    ProjectLevel,
    change_membership,
    finish_deletions,
    load_password,
    require_membership,
)
from preheat.model.lesson import Lesson
from preheat.model.progress import SILENT, Progress
from preheat.model.pushed import PUSHED_TABLES, PushedRows
from preheat.model.team import Level, ProjectPush, PushedTable, PushPlan, PushReport, TeamIdentity
from preheat.team.agreement import hash_fields
from preheat.team_server import people, rows
from preheat.team_server.connect import connect, find_time

_MOST_SESSIONS = 200
_MOST_BYTES = 8_000_000
_SAMPLE_CHARACTERS = 160


class _Candidate(NamedTuple):
    session: LocalSession
    project: ProjectPush


# What would be pushed.
def plan_push(folder: str, everything: bool, progress: Progress = SILENT) -> PushPlan:
    """Exactly what a push would send: of every project, or only of those that the person has not agreed to. Asks no server."""
    membership = require_membership(folder)
    local = find_local_sessions(folder, membership)
    chosen = {
        key: each
        for key, each in local.projects.items()
        if each.level != "nothing" and (everything or not each.is_agreed)
    }
    samples: dict[str, Any] = {}
    counts = dict.fromkeys(PUSHED_TABLES, 0)
    with closing(connect_archive(folder)) as connection:
        for each in _make_all(folder, connection, _candidates(local, chosen), progress):
            for table, some in _tables_of(each):
                counts[table] += len(some)
                if some and (table not in samples or not _is_telling(samples[table])):
                    samples[table] = next(filter(_is_telling, some), some[0])
        lessons = find_proposals(folder, connection, chosen)
    counts["lessons"] = len(lessons)
    samples |= {"lessons": lessons[0]} if lessons else {}
    return PushPlan(
        team=membership.team,
        projects=tuple(sorted(local.projects.values(), key=lambda each: (each.level == "nothing", each.name))),
        tables=tuple(
            PushedTable(name=name, rows=counts[name], sample=_show_row(samples[name]) if name in samples else {})
            for name in PUSHED_TABLES
        ),
        deletions=len(membership.deletions),
    )


def _is_telling(row: Any) -> bool:
    """Whether a row shows what its fields can hold."""
    return bool(getattr(row, "files_changed", True) and getattr(row, "cause", True))


def _tables_of(each: PushedRows) -> Iterator[tuple[str, tuple[Any, ...]]]:
    yield "sessions", (each.session,)
    yield "outcomes", each.outcomes
    yield "episodes", each.episodes
    yield "transcripts", () if each.transcript is None else (each.transcript,)


def _show_row(row: Any) -> dict[str, str]:
    return {name: _show_value(getattr(row, name)) for name in row.__struct_fields__}


def _show_value(value: Any) -> str:
    if isinstance(value, bytes):
        text = decompress(value).decode("utf-8", "replace")
        return f"{len(value):,} bytes compressed, which begin: {text[:_SAMPLE_CHARACTERS]}"
    if isinstance(value, tuple):
        return ", ".join(value)
    return "" if value is None else str(value)


def _candidates(local: LocalSessions, projects: dict[str, ProjectPush]) -> list[_Candidate]:
    return [_Candidate(each, projects[each.project]) for each in local.sessions if each.project in projects]


def _make_all(folder: str, connection: Any, candidates: list[_Candidate], progress: Progress) -> Iterator[PushedRows]:
    maker = RowMaker(folder, connection)
    progress.begin("Looking through sessions", len(candidates))
    try:
        for session, project in candidates:
            made = maker.make(session, project)
            progress.advance(1)
            if made is not None:
                yield made
    finally:
        progress.end()


# What a person says.
def set_level(folder: str, project: ProjectPush, level: Level) -> ProjectPush:
    """Say what may be pushed of a project; the next push shows what that is, unless the person has agreed to it before."""
    membership = require_membership(folder)
    before = membership.projects.get(project.key)
    kept = before.fields if before is not None and before.level == level else ""
    change_membership(
        folder, lambda known: replace(known, projects={**known.projects, project.key: ProjectLevel(level, kept)})
    )
    return replace(project, level=level, is_agreed=level == "nothing" or kept == hash_fields(level))


def agree(folder: str, projects: tuple[ProjectPush, ...]) -> None:
    """Note that the person has seen what is pushed of these projects and wants it."""
    agreed = {each.key: ProjectLevel(each.level, hash_fields(each.level)) for each in projects}
    change_membership(folder, lambda known: replace(known, projects={**known.projects, **agreed}))


# Pushing.
def push(folder: str, progress: Progress = SILENT) -> PushReport:
    """Send what is new or changed of the projects that the person agreed to, and delete what is to be deleted. Raises UserError;
    then everything that was not sent waits for the next push."""
    membership = require_membership(folder)
    local = find_local_sessions(folder, membership)
    agreed = {key: each for key, each in local.projects.items() if each.level != "nothing" and each.is_agreed}
    with connect(membership.address, load_password(folder)) as server, closing(connect_archive(folder)) as connection:
        identity = people.identify(server)
        _require_pusher(identity)
        deleted = _delete_queued(folder, membership, server)
        stored = rows.load_stored(server, membership.machine)
        deleted += rows.delete_machine_sessions(server, membership.machine, _find_unwanted(local, stored))
        candidates = _candidates(local, agreed)
        changed = [
            each
            for each in candidates
            if each.session.hash not in stored
            or stored[each.session.hash].origin != find_origin(each.session, each.project)
        ]
        sent = _send(folder, connection, server, membership.machine, changed, progress)
        lessons = find_proposals(folder, connection, agreed)
        withdrawn = rows.push_lessons(server, membership.machine, lessons)
        now = find_time(server)
    change_membership(folder, lambda known: replace(known, role=identity.role, team=identity.team, last_push=now))
    return PushReport(
        sessions=sent,
        unchanged=len(candidates) - sent,
        deleted=deleted,
        lessons=len(lessons),
        withdrawn=withdrawn,
        waiting=tuple(each.name for each in local.projects.values() if each.level != "nothing" and not each.is_agreed),
    )


def propose(folder: str, repository: str, lessons: Iterable[Lesson]) -> PushReport:
    """Propose lessons of a repository that were learned elsewhere, in place of those proposed so before. Nothing but lessons is
    sent, and only what may be shared. Raises UserError."""
    membership = require_membership(folder)
    # Under a number of their own, so that a push of this machine's own lessons does not withdraw them.
    machine = str(uuid.uuid5(uuid.UUID(membership.machine), repository))
    now = time.time()
    made = (propose_lesson(each, repository) for each in lessons if each.is_usable(now) and each.packet is None)
    proposed = {each.digest: each for each in made if each is not None}
    with connect(membership.address, load_password(folder)) as server:
        _require_pusher(people.identify(server))
        withdrawn = rows.push_lessons(server, machine, [proposed[digest] for digest in sorted(proposed)])
    return PushReport(sessions=0, unchanged=0, deleted=0, lessons=len(proposed), withdrawn=withdrawn)


def _require_pusher(identity: TeamIdentity) -> None:
    if identity.role == "reader":
        raise UserError("a reader of a team pushes nothing; `preheat team pull` gets its lessons")


def _send(
    folder: str, connection: Any, server: Any, machine: str, changed: list[_Candidate], progress: Progress
) -> int:
    maker = RowMaker(folder, connection)
    sent = 0
    progress.begin("Pushing sessions", len(changed))
    try:
        made = (maker.make(*each) for each in changed)
        for batch in batch_rows(made, _MOST_SESSIONS, _MOST_BYTES, lambda: progress.advance(1)):
            sent += rows.push_sessions(server, machine, batch)
    finally:
        progress.end()
    return sent


def _find_unwanted(local: LocalSessions, stored: dict[str, rows.StoredSession]) -> list[str]:
    """Sessions of this machine on the server of which the person wants nothing there any more. One that the archive lost is no
    such: only what a person deletes or forbids is taken back."""
    known = {each.hash: local.projects[each.project] for each in local.sessions}
    forbidden = {each.repository for each in local.projects.values() if each.level == "nothing"}
    return [
        session
        for session, each in stored.items()
        if (known[session].level == "nothing" if session in known else each.repository in forbidden)
    ]


def _delete_queued(folder: str, membership: Membership, server: Any) -> int:
    if not membership.deletions:
        return 0
    deleted = rows.delete_sessions(server, membership.deletions)
    finish_deletions(folder, membership.deletions)
    return deleted


def delete_queued(folder: str, seconds: int) -> int:
    """Delete from the server what waits for that; how many sessions were there. Raises UserError if the server is away."""
    membership = require_membership(folder)
    if not membership.deletions:
        return 0
    with connect(membership.address, load_password(folder), seconds) as server:
        return _delete_queued(folder, membership, server)


def count_pushed(server: Any, machine: str) -> dict[str, int]:
    """The sessions of a machine on the server, by repository."""
    counts: dict[str, int] = {}
    for each in rows.load_stored(server, machine).values():
        counts[each.repository] = counts.get(each.repository, 0) + 1
    return counts
