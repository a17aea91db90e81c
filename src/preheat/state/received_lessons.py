"""Lessons that came from others, and the files of repositories that a person trusted. Knows nothing of how they come.

A lesson from a file counts only while the file is, byte for byte, a version that was trusted in that clone: a change to it takes
its lessons away at once. Light: the start of a session reads them.
"""

import sqlite3
from collections.abc import Iterable

import msgspec

from preheat.model.lesson import Lesson, Origin
from preheat.model.received import ReceivedLesson, TrustedFile
from preheat.shared_file import find_clone, find_file

_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(Lesson)
_VERSIONS_KEPT = 8
"""Versions of a file that stay trusted in a clone: branches have different ones, and each is asked about once."""


# The pool.
def received_lessons(connection: sqlite3.Connection, where: str = "") -> list[ReceivedLesson]:
    """The lessons that count now: of a team all of them, of repositories those whose file is as it was trusted. With a folder,
    of repositories only those of the clone around it: what was trusted elsewhere is not trusted there."""
    rows = connection.execute(
        "SELECT data, origin, place, digest, project, trusted_by, at FROM received_lessons ORDER BY origin, at, lesson"
    ).fetchall()
    if not rows:
        return []
    current = _current_versions(connection, where)
    found = []
    for data, *rest in rows:
        origin, place, digest = rest[:3]
        if origin == "repository" and (place, digest) not in current:
            continue
        try:
            lesson = _DECODER.decode(data)
        except msgspec.DecodeError:  # of another version of Preheat
            continue
        found.append(ReceivedLesson(msgspec.structs.replace(lesson, origin=origin), *rest))
    return found


def store_received_lessons(
    connection: sqlite3.Connection, origin: Origin, place: str, received: Iterable[ReceivedLesson]
) -> None:
    """Store what came from one place, in place of everything that came from there before."""
    drop_received_lessons(connection, origin, place)
    _insert(connection, received)


def drop_received_lessons(connection: sqlite3.Connection, origin: Origin, place: str) -> int:
    """Delete what came from one place; how many lessons that were."""
    return connection.execute("DELETE FROM received_lessons WHERE origin = ? AND place = ?", (origin, place)).rowcount


def received_stamp(connection: sqlite3.Connection) -> tuple[float, float]:
    """A value that changes whenever a lesson comes or goes."""
    number, total = connection.execute("SELECT count(*), total(at) FROM received_lessons").fetchone()
    return float(number), float(total)


def _insert(connection: sqlite3.Connection, received: Iterable[ReceivedLesson]) -> None:
    connection.executemany(
        "INSERT OR REPLACE INTO received_lessons (origin, place, digest, lesson, project, data, trusted_by, at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            (
                each.origin,
                each.place,
                each.digest,
                each.lesson.id,
                each.project,
                _ENCODER.encode(each.lesson),
                *each[5:],
            )
            for each in received
        ),
    )


# Files of repositories.
def trust_file(connection: sqlite3.Connection, file: TrustedFile, received: Iterable[ReceivedLesson]) -> None:
    """Trust a version of a clone's file with its lessons; versions that were trusted before stay so, the newest few."""
    connection.execute(
        "INSERT OR REPLACE INTO trusted_files (clone, digest, root, content, at) VALUES (?, ?, ?, ?, ?)", file
    )
    for old in trusted_files(connection, file.clone)[_VERSIONS_KEPT:]:
        _drop_version(connection, old)
    _drop_lessons(connection, file)
    _insert(connection, received)


def revoke_files(connection: sqlite3.Connection, clone: str) -> int:
    """Trust no version of a clone's file any more; how many were trusted."""
    found = trusted_files(connection, clone)
    for each in found:
        _drop_version(connection, each)
    return len(found)


def trusted_files(connection: sqlite3.Connection, clone: str = "") -> list[TrustedFile]:
    """The trusted versions of a clone's file, or of all clones, the newest first."""
    rows = connection.execute(
        "SELECT clone, digest, root, content, at FROM trusted_files WHERE ? IN ('', clone) ORDER BY at DESC, digest",
        (clone,),
    )
    return [TrustedFile(*row) for row in rows]


def _drop_version(connection: sqlite3.Connection, file: TrustedFile) -> None:
    connection.execute("DELETE FROM trusted_files WHERE clone = ? AND digest = ?", (file.clone, file.digest))
    _drop_lessons(connection, file)


def _drop_lessons(connection: sqlite3.Connection, file: TrustedFile) -> None:
    connection.execute(
        "DELETE FROM received_lessons WHERE origin = 'repository' AND place = ? AND digest = ?",
        (file.clone, file.digest),
    )


def _current_versions(connection: sqlite3.Connection, where: str) -> frozenset[tuple[str, str]]:
    """Clones and the digests of their files as these are now: of the clone around a folder, or of all known working trees."""
    if where:
        clone = find_clone(where)
        return frozenset() if clone is None else frozenset([(clone.identity, find_file(clone.root).digest)])
    trees = connection.execute("SELECT DISTINCT clone, root FROM trusted_files").fetchall()
    return frozenset((clone, find_file(root).digest) for clone, root in trees)
