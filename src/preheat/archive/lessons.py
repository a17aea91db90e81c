"""Keeps what was learned: conclusions of each learner, and lessons as they are handed out.

Plain SQL, as in `writer.py`: handing lessons to a new session must not cost an import of SQLAlchemy. Knows nothing of how
lessons are learned or chosen; what a person said of them is kept in the state beside the archive. Everything that writes
happens inside a transaction that the caller holds (`writing`).
"""

import sqlite3
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import NamedTuple

import msgspec

from preheat.archive.connect import folder_of
from preheat.archive.packing import compress, decompress
from preheat.model.exposure import Measured
from preheat.model.lesson import Lesson, Marked
from preheat.model.profile import Rate
from preheat.state.connect import reading
from preheat.state.marks import marks

_WEIGHED = ""
"""In the place of a learner: the row that says from which conclusions the lessons of a project were made."""

_ENCODER = msgspec.msgpack.Encoder()
_LESSON = msgspec.msgpack.Decoder(Lesson)
_LESSONS = msgspec.msgpack.Decoder(list[Lesson])


class _Rates(msgspec.Struct):
    """The part of a profile that an effect is measured on."""

    mistakes: Rate


_RATES = msgspec.json.Decoder(_Rates)


class Place(NamedTuple):
    """A folder in which sessions ran, and the project it belongs to."""

    folder: str
    root: str
    name: str


# Projects.
def store_places(connection: sqlite3.Connection, places: Iterable[Place]) -> None:
    """Keep which folder belongs to which project, in the place of what was known before."""
    connection.execute("DELETE FROM projects")
    connection.executemany("INSERT INTO projects (folder, root, name) VALUES (?, ?, ?)", places)


def places(connection: sqlite3.Connection) -> list[Place]:
    rows = connection.execute("SELECT folder, root, name FROM projects ORDER BY folder")
    return [Place(*row) for row in rows]


# What the learners concluded.
def seen_by(connection: sqlite3.Connection) -> dict[tuple[str, str], tuple[int, str]]:
    """By project and learner: the version that concluded, and from what."""
    rows = connection.execute("SELECT project, learner, version, seen FROM learnings WHERE learner != ?", (_WEIGHED,))
    return {(project, learner): (version, seen) for project, learner, version, seen in rows}


def store_learning(
    connection: sqlite3.Connection, project: str, learner: str, version: int, seen: str, lessons: list[Lesson]
) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO learnings (project, learner, version, seen, data) VALUES (?, ?, ?, ?, ?)",
        (project, learner, version, seen, compress(_ENCODER.encode(lessons))),
    )


def learned(connection: sqlite3.Connection, project: str) -> dict[str, list[Lesson]]:
    """What each learner concluded for a project. One whose form this version does not know has concluded nothing."""
    rows = connection.execute(
        "SELECT learner, data FROM learnings WHERE project = ? AND learner != ? ORDER BY learner", (project, _WEIGHED)
    )
    found: dict[str, list[Lesson]] = {}
    for learner, data in rows.fetchall():
        try:
            found[learner] = _LESSONS.decode(decompress(data))
        except msgspec.DecodeError:  # it will be concluded anew when its learner runs
            continue
    return found


def drop_learning(connection: sqlite3.Connection, project: str, learner: str) -> None:
    """Take away what a learner concluded for a project of which it has no notes any more."""
    connection.execute("DELETE FROM learnings WHERE project = ? AND learner = ?", (project, learner))


def drop_projects(connection: sqlite3.Connection, projects: Iterable[str]) -> None:
    """Take away everything that was learned for these."""
    names = [(project,) for project in projects]
    connection.executemany("DELETE FROM learnings WHERE project = ?", names)
    connection.executemany("DELETE FROM lessons WHERE project = ?", names)


# Whether the lessons are those of the newest conclusions: a run may be killed between the one and the other.
def states(connection: sqlite3.Connection) -> dict[str, str]:
    """By project: a digest of all that was concluded for it."""
    found: dict[str, blake2b] = {}
    for (project, learner), (version, seen) in sorted(seen_by(connection).items()):
        found.setdefault(project, blake2b(digest_size=12)).update(f"{learner} {version} {seen}\n".encode())
    return {project: state.hexdigest() for project, state in found.items()}


def unweighed(connection: sqlite3.Connection) -> set[str]:
    """Projects whose lessons are not made from what is concluded for them now."""
    rows = connection.execute("SELECT project, seen FROM learnings WHERE learner = ?", (_WEIGHED,))
    weighed, now = dict(rows.fetchall()), states(connection)
    return {project for project in weighed.keys() | now.keys() if weighed.get(project) != now.get(project)}


def store_weighed(connection: sqlite3.Connection, project: str, state: str | None) -> None:
    """Keep from which state the lessons of a project were made; None where nothing is concluded for it any more."""
    drop_learning(connection, project, _WEIGHED)
    if state is not None:
        store_learning(connection, project, _WEIGHED, 0, state, [])


# Lessons as they are handed out.
def store_lessons(connection: sqlite3.Connection, project: str, lessons: Mapping[str, list[Lesson]]) -> None:
    """Keep the lessons of a project, by learner, in the place of earlier ones."""
    connection.execute("DELETE FROM lessons WHERE project = ?", (project,))
    connection.executemany(
        "INSERT OR REPLACE INTO lessons (id, project, learner, kind, data) VALUES (?, ?, ?, ?, ?)",
        (
            (lesson.id, project, learner, lesson.kind, _ENCODER.encode(lesson))
            for learner, some in lessons.items()
            for lesson in some
        ),
    )


def lessons(connection: sqlite3.Connection, projects: Iterable[str] | None = None) -> list[Lesson]:
    """The lessons of some projects (of all if none are named; `""` has those that hold anywhere), as a person marked
    them, the best first."""
    marked = _marks(connection)
    if projects is None:
        rows = connection.execute("SELECT data FROM lessons").fetchall()
    else:
        rows = []
        for project in dict.fromkeys(projects):
            rows += connection.execute("SELECT data FROM lessons WHERE project = ?", (project,)).fetchall()
    found = [_marked(lesson, marked) for (data,) in rows if (lesson := _decoded(data)) is not None]
    return sorted(found, key=lambda lesson: (-lesson.score, lesson.id))


def _decoded(data: bytes) -> Lesson | None:
    """A lesson; None where this version does not know its form: it comes back when its project is learned from anew."""
    try:
        return _LESSON.decode(data)
    except msgspec.DecodeError:
        return None


def _marks(connection: sqlite3.Connection) -> dict[str, Marked]:
    """By lesson, what a person said of it; kept beside the archive, and so it outlives every archive."""
    folder = folder_of(connection)
    if not folder:
        return {}
    with reading(folder) as state:
        return marks(state)


def _marked(lesson: Lesson, marked: Mapping[str, Marked]) -> Lesson:
    said = marked.get(lesson.id)
    if said is None:
        return lesson
    if said.mark == "retired":
        return msgspec.structs.replace(lesson, status="retired", why=said.why or "retired by you")
    status = lesson.status if lesson.status == "quarantined" else "active"
    return msgspec.structs.replace(lesson, pinned=True, status=status, expires_at=None)


def by_learner(connection: sqlite3.Connection) -> dict[str, list[Lesson]]:
    """All lessons by who learned them."""
    found: dict[str, list[Lesson]] = {}
    for learner, data in connection.execute("SELECT learner, data FROM lessons ORDER BY learner, id"):
        if (lesson := _decoded(data)) is not None:
            found.setdefault(learner, []).append(lesson)
    return found


# What was measured.
def measured(connection: sqlite3.Connection, sessions: Iterable[str]) -> list[Measured]:
    """How these sessions went, as far as they were judged."""
    found: list[Measured] = []
    for key in sorted(sessions):
        row = connection.execute(
            "SELECT profiles.data FROM profiles JOIN sessions ON sessions.id = profiles.session_id WHERE sessions.key = ?",
            (key,),
        ).fetchone()
        if row is not None:
            mistakes = _RATES.decode(row[0]).mistakes
            found.append(Measured(key, mistakes.total, mistakes.count))
    return found
