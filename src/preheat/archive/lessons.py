"""Stores and loads the conclusions of each learner, and the lessons made of them.

Plain SQL, as in `writer.py`: giving lessons to a new session must not import SQLAlchemy. Knows nothing of how lessons are
learned or chosen; marks of a person are kept in the state beside the archive. The caller holds the transaction
(`connection.transaction()`) of everything that writes.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import NamedTuple

import msgspec

from preheat.archive.database import ArchiveConnection
from preheat.archive.packing import compress, decode_stored, decompress
from preheat.archive.projects import load_project_names
from preheat.lesson_meaning import find_conflicts, join_received
from preheat.model.experiment import MeasuredSession
from preheat.model.lesson import Approval, Lesson, LessonMark, WrittenLesson
from preheat.model.profile import Rate
from preheat.model.received import LessonConflict, ReceivedLesson
from preheat.shared_file import find_clone
from preheat.state.connect import reading
from preheat.state.marks import approvals, marks
from preheat.state.received_lessons import received_lessons
from preheat.state.written_lessons import reviews, written_lessons

_WEIGHED = ""
"""In the column `learner`: marks the row with the digest of the conclusions that a project's lessons were made from."""

_ENCODER = msgspec.msgpack.Encoder()
_LESSON = msgspec.msgpack.Decoder(Lesson)
_LESSONS = msgspec.msgpack.Decoder(list[Lesson])


class _Rates(msgspec.Struct):
    """The part of a profile that effects are measured with."""

    mistakes: Rate


_RATES = msgspec.json.Decoder(_Rates)


# Conclusions of the learners.
def load_conclusion_versions(connection: ArchiveConnection) -> dict[tuple[str, str], tuple[int, str]]:
    """By project and learner: the learner's version, and a digest of the notes that it concluded from."""
    rows = connection.execute("SELECT project, learner, version, seen FROM learnings WHERE learner != ?", (_WEIGHED,))
    return {(project, learner): (version, seen) for project, learner, version, seen in rows}


def store_conclusions(
    connection: ArchiveConnection, project: str, learner: str, version: int, seen: str, lessons: list[Lesson]
) -> None:
    connection.execute(
        "INSERT INTO learnings (project, learner, version, seen, data) VALUES (?, ?, ?, ?, ?) "
        "ON CONFLICT (project, learner) DO UPDATE SET version = excluded.version, seen = excluded.seen, data = excluded.data",
        (project, learner, version, seen, compress(_ENCODER.encode(lessons))),
    )


def load_conclusions(connection: ArchiveConnection, project: str) -> dict[str, list[Lesson]]:
    """The conclusions for a project by learner; those in a format of another version are left out."""
    rows = connection.execute(
        "SELECT learner, data FROM learnings WHERE project = ? AND learner != ? ORDER BY learner", (project, _WEIGHED)
    )
    found: dict[str, list[Lesson]] = {}
    for learner, data in rows.fetchall():
        try:
            found[learner] = _LESSONS.decode(decompress(data))
        except msgspec.DecodeError:  # its learner concludes again when it runs
            continue
    return found


def drop_conclusions(connection: ArchiveConnection, project: str, learner: str) -> None:
    """Delete what a learner concluded for a project."""
    connection.execute("DELETE FROM learnings WHERE project = ? AND learner = ?", (project, learner))


def drop_project_lessons(connection: ArchiveConnection, projects: Iterable[str]) -> None:
    """Delete everything that was learned for these projects."""
    names = [(project,) for project in projects]
    connection.executemany("DELETE FROM learnings WHERE project = ?", names)
    connection.executemany("DELETE FROM lessons WHERE project = ?", names)


# Whether lessons match the newest conclusions: a run may be killed between storing the two.
def conclusion_digests(connection: ArchiveConnection) -> dict[str, str]:
    """By project: a digest of all conclusions for it."""
    found: dict[str, blake2b] = {}
    for (project, learner), (version, seen) in sorted(load_conclusion_versions(connection).items()):
        found.setdefault(project, blake2b(digest_size=12)).update(f"{learner} {version} {seen}\n".encode())
    return {project: state.hexdigest() for project, state in found.items()}


def find_outdated_projects(connection: ArchiveConnection) -> set[str]:
    """Projects whose lessons were not made from their present conclusions."""
    rows = connection.execute("SELECT project, seen FROM learnings WHERE learner = ?", (_WEIGHED,))
    weighed, now = dict(rows.fetchall()), conclusion_digests(connection)
    return {project for project in weighed.keys() | now.keys() if weighed.get(project) != now.get(project)}


def store_weighed_digest(connection: ArchiveConnection, project: str, state: str | None) -> None:
    """Store the digest of the conclusions that a project's lessons were made from; None where there are none any more."""
    drop_conclusions(connection, project, _WEIGHED)
    if state is not None:
        store_conclusions(connection, project, _WEIGHED, 0, state, [])


# Lessons.
def store_lessons(connection: ArchiveConnection, project: str, lessons: Mapping[str, list[Lesson]]) -> None:
    """Store the lessons of a project, by learner, in place of earlier ones."""
    connection.execute("DELETE FROM lessons WHERE project = ?", (project,))
    connection.executemany(
        "INSERT INTO lessons (id, project, learner, kind, data) VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET "
        "project = excluded.project, learner = excluded.learner, kind = excluded.kind, data = excluded.data",
        (
            (lesson.id, project, learner, lesson.kind, _ENCODER.encode(lesson))
            for learner, some in lessons.items()
            for lesson in some
        ),
    )


def load_lessons(connection: ArchiveConnection, projects: Iterable[str] | None = None, where: str = "") -> list[Lesson]:
    """The lessons of some projects (None: of all; `""`: lessons that hold anywhere): learned, written, and those of others that
    are trusted; with a person's marks and approvals applied, the best first. `where`: the folder that they are for, whose clone
    decides which lessons of its repository are trusted."""
    ours, theirs, said = _load_both(connection, projects, where)
    found = join_received(ours, theirs, said.decided)
    return sorted(found, key=lambda lesson: (lesson.author != "person", -lesson.score, lesson.id))


def load_conflicts(
    connection: ArchiveConnection,
    projects: Iterable[str] | None = None,
    where: str = "",
    theirs: Sequence[Lesson] | None = None,
) -> list[LessonConflict]:
    """Where lessons of this machine contradict trusted ones of others, or given ones that may be trusted, and which is handed
    out."""
    ours, trusted, said = _load_both(connection, projects, where)
    return find_conflicts(ours, trusted if theirs is None else theirs, said.decided)


def load_received_only(folder: str, where: str) -> list[Lesson]:
    """The trusted lessons of others for a folder, where there is no archive yet: a new colleague's first session."""
    said = _load_said(folder, where)
    found = [_name_received(each, {}, "", where) for each in said.received if each.origin == "repository"]
    return sorted((_apply_mark(each, said) for each in found), key=lambda lesson: (-lesson.score, lesson.id))


def _load_both(
    connection: ArchiveConnection, projects: Iterable[str] | None, where: str
) -> tuple[list[Lesson], list[Lesson], "_Said"]:
    """The lessons of this machine, those of others, and what people said of both."""
    said = _load_said(connection.folder, where)
    wanted = None if projects is None else list(dict.fromkeys(projects))
    if wanted is None:
        rows = connection.execute("SELECT data FROM lessons").fetchall()
    else:
        rows = []
        for project in wanted:
            rows += connection.execute("SELECT data FROM lessons WHERE project = ?", (project,)).fetchall()
    learned = [lesson for (data,) in rows if (lesson := _decode(data)) is not None]
    names = load_project_names(connection) if said.written or said.received else {}
    written = [each for each in _name_projects(said, names) if wanted is None or each.scope.project in wanted]
    here = next(filter(None, wanted or ()), "")
    theirs = []
    for each in said.received:
        named = _name_received(each, names, here, where)
        if wanted is None or named.scope.project in wanted or (where and each.origin == "repository"):
            theirs.append(_apply_mark(_retire_rewritten(named, said.written), said))
    ours = [_apply_mark(_outrank(lesson, said.written), said) for lesson in (*learned, *written)]
    return ours, theirs, said


def count_lessons(connection: ArchiveConnection) -> dict[str, int]:
    """The number of lessons by project."""
    return dict(connection.execute("SELECT project, count(*) FROM lessons GROUP BY project").fetchall())


def _decode(data: bytes) -> Lesson | None:
    """Decode a lesson; None if it is in a format of another version, until its project is learned from again."""
    try:
        return _LESSON.decode(data)
    except msgspec.DecodeError:
        return None


class _Said(NamedTuple):
    """What people said of lessons, by the ids of these, the lessons that they wrote, and those of others that they trust."""

    marks: Mapping[str, LessonMark] = {}
    approvals: Mapping[str, Approval] = {}
    written: Sequence[WrittenLesson] = ()
    received: Sequence[ReceivedLesson] = ()
    decided: frozenset[str] = frozenset()
    """Lessons that a person approved, or kept in a review."""


def _load_said(folder: str, where: str) -> _Said:
    """From the state beside the archive."""
    if not folder:
        return _Said()
    with reading(folder) as state:
        approved = approvals(state)
        kept = (lesson for lesson, verdict in reviews(state).items() if verdict != "dropped")
        received = received_lessons(state, where)
        return _Said(marks(state), approved, written_lessons(state), received, frozenset([*approved, *kept]))


def _name_projects(said: _Said, names: Mapping[str, str]) -> list[Lesson]:
    """The written lessons, each with the present name of its project."""
    return [
        _with_project(each.lesson, names.get(each.project, each.lesson.scope.project) if each.project else "")
        for each in said.written
    ]


def _name_received(received: ReceivedLesson, names: Mapping[str, str], here: str, where: str) -> Lesson:
    """A lesson of others with the name that its project has on this machine: of the clone around a folder, the one that is asked
    for, which no session may have worked in yet."""
    lesson = received.lesson
    if received.origin == "repository" and where:
        clone = find_clone(where)
        return _with_project(lesson, here or os.path.basename(clone.root if clone is not None else where))
    return _with_project(lesson, names.get(received.project, lesson.scope.project))


def _with_project(lesson: Lesson, name: str) -> Lesson:
    return msgspec.structs.replace(lesson, scope=msgspec.structs.replace(lesson.scope, project=name))


def _retire_rewritten(lesson: Lesson, written: Sequence[WrittenLesson]) -> Lesson:
    """A lesson, retired if a person rewrote it."""
    for each in written:
        if each.replaces == lesson.id and each.lesson.author == "person" and each.lesson.status == "active":
            return msgspec.structs.replace(lesson, status="retired", why=f"you rewrote it: `{each.lesson.id}`")
    return lesson


def _outrank(lesson: Lesson, written: Sequence[WrittenLesson]) -> Lesson:
    """A learned lesson, retired if a person rewrote it or wrote the opposite."""
    if lesson.author == "person":
        return lesson
    for each in written:
        own = each.lesson
        is_here = own.scope.project in ("", lesson.scope.project)
        if own.author != "person" or own.status != "active" or not is_here:
            continue
        if _is_command(lesson.use, own.avoid) or _is_command(lesson.avoid, own.use):
            return msgspec.structs.replace(lesson, status="retired", why=f"you wrote otherwise: `{own.id}`")
    return _retire_rewritten(lesson, written)


def _is_command(command: str, other: str) -> bool:
    """Whether a command is another one, alone or with further arguments."""
    words, first = command.split(), other.split()
    return bool(first) and words[: len(first)] == first


def _apply_mark(lesson: Lesson, said: _Said) -> Lesson:
    mark = said.marks.get(lesson.id)
    if mark is None:
        is_approved = lesson.status in ("weak", "waiting") and lesson.id in said.approvals
        return msgspec.structs.replace(lesson, status="active", why="") if is_approved else lesson
    if mark.mark == "retired":
        return msgspec.structs.replace(lesson, status="retired", why=mark.why or "retired by you")
    status = lesson.status if lesson.status == "quarantined" else "active"
    return msgspec.structs.replace(lesson, pinned=True, status=status, expires_at=None)


def lessons_by_learner(connection: ArchiveConnection) -> dict[str, list[Lesson]]:
    """All lessons by learner."""
    found: dict[str, list[Lesson]] = {}
    for learner, data in connection.execute("SELECT learner, data FROM lessons ORDER BY learner, id"):
        if (lesson := _decode(data)) is not None:
            found.setdefault(learner, []).append(lesson)
    return found


# Measures.
def load_measured_sessions(connection: ArchiveConnection, sessions: Iterable[str]) -> list[MeasuredSession]:
    """Calls and mistakes of these sessions, where they were judged."""
    found: list[MeasuredSession] = []
    for key in sorted(sessions):
        row = connection.execute(
            "SELECT profiles.data FROM profiles JOIN sessions ON sessions.id = profiles.session_id WHERE sessions.key = ?",
            (key,),
        ).fetchone()
        if row is not None:
            mistakes = decode_stored(_RATES, row[0]).mistakes
            found.append(MeasuredSession(key, mistakes.total, mistakes.count))
    return found
