"""Stores and loads the conclusions of each learner, and the lessons made of them.

Plain SQL, as in `writer.py`: giving lessons to a new session must not import SQLAlchemy. Knows nothing of how lessons are
learned or chosen; marks of a person are kept in the state beside the archive. The caller holds the transaction
(`write_transaction`) of everything that writes.
"""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import NamedTuple

import msgspec

from preheat.archive.database import ArchiveConnection
from preheat.archive.packing import compress, decode_stored, decompress
from preheat.archive.projects import load_project_names
from preheat.model.experiment import MeasuredSession
from preheat.model.lesson import Approval, Lesson, LessonMark, WrittenLesson
from preheat.model.profile import Rate
from preheat.state.connect import reading
from preheat.state.marks import approvals, marks
from preheat.state.written_lessons import written_lessons

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


def load_lessons(connection: ArchiveConnection, projects: Iterable[str] | None = None) -> list[Lesson]:
    """The lessons of some projects (None: of all; `""`: lessons that hold anywhere), learned and written ones, with a person's
    marks and approvals applied, the best first."""
    said = _load_said(connection)
    wanted = None if projects is None else list(dict.fromkeys(projects))
    if wanted is None:
        rows = connection.execute("SELECT data FROM lessons").fetchall()
    else:
        rows = []
        for project in wanted:
            rows += connection.execute("SELECT data FROM lessons WHERE project = ?", (project,)).fetchall()
    learned = [lesson for (data,) in rows if (lesson := _decode(data)) is not None]
    written = [each for each in _name_projects(connection, said) if wanted is None or each.scope.project in wanted]
    found = [_apply_mark(_outrank(lesson, said.written), said) for lesson in (*learned, *written)]
    return sorted(found, key=lambda lesson: (lesson.author != "person", -lesson.score, lesson.id))


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
    """What people said of lessons, by the ids of these, and the lessons that they wrote."""

    marks: Mapping[str, LessonMark] = {}
    approvals: Mapping[str, Approval] = {}
    written: Sequence[WrittenLesson] = ()


def _load_said(connection: ArchiveConnection) -> _Said:
    """From the state beside the archive."""
    folder = connection.folder
    if not folder:
        return _Said()
    with reading(folder) as state:
        return _Said(marks(state), approvals(state), written_lessons(state))


def _name_projects(connection: ArchiveConnection, said: _Said) -> list[Lesson]:
    """The written lessons, each with the present name of its project."""
    if not said.written:
        return []
    names = load_project_names(connection)
    found = []
    for each in said.written:
        scope = msgspec.structs.replace(
            each.lesson.scope, project=names.get(each.project, each.lesson.scope.project) if each.project else ""
        )
        found.append(msgspec.structs.replace(each.lesson, scope=scope))
    return found


def _outrank(lesson: Lesson, written: Sequence[WrittenLesson]) -> Lesson:
    """A learned lesson, retired if a person rewrote it or wrote the opposite."""
    if lesson.author == "person":
        return lesson
    for each in written:
        own = each.lesson
        if own.author != "person" or own.status != "active":
            continue
        if each.replaces == lesson.id:
            return msgspec.structs.replace(lesson, status="retired", why=f"you rewrote it: `{own.id}`")
        is_here = own.scope.project in ("", lesson.scope.project)
        if is_here and (_is_command(lesson.use, own.avoid) or _is_command(lesson.avoid, own.use)):
            return msgspec.structs.replace(lesson, status="retired", why=f"you wrote otherwise: `{own.id}`")
    return lesson


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
