"""Lessons that a person wrote or that a person's own agent proposed, and the reviews of lessons. Knows nothing of learning.

Light: the start of a session reads them.
"""

import sqlite3

import msgspec

from preheat.model.lesson import Lesson, Verdict, WrittenLesson

_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(Lesson)


def written_lessons(connection: sqlite3.Connection) -> list[WrittenLesson]:
    """All of them, the oldest first; one in the format of another version is left out."""
    rows = connection.execute("SELECT data, project, replaces, at FROM written_lessons ORDER BY at, lesson")
    found = []
    for data, project, replaces, at in rows:
        try:
            found.append(WrittenLesson(_DECODER.decode(data), project, replaces, at))
        except msgspec.DecodeError:
            continue
    return found


def store_written_lesson(connection: sqlite3.Connection, written: WrittenLesson) -> None:
    """Store a lesson in place of an earlier form of it."""
    connection.execute(
        "INSERT OR REPLACE INTO written_lessons (lesson, project, replaces, data, at) VALUES (?, ?, ?, ?, ?)",
        (written.lesson.id, written.project, written.replaces, _ENCODER.encode(written.lesson), written.at),
    )


def delete_written_lesson(connection: sqlite3.Connection, lesson: str) -> None:
    """Delete a lesson by its id, if it is there."""
    connection.execute("DELETE FROM written_lessons WHERE lesson = ?", (lesson,))


# Reviews: what a person decided of each lesson that was shown to them.
def reviews(connection: sqlite3.Connection) -> dict[str, Verdict]:
    """The verdict of each lesson that has one, by its id."""
    return dict(connection.execute("SELECT lesson, verdict FROM reviews ORDER BY lesson").fetchall())


def set_review(connection: sqlite3.Connection, lesson: str, verdict: Verdict | None, at: float) -> None:
    """Store a verdict; None removes it."""
    if verdict is None:
        connection.execute("DELETE FROM reviews WHERE lesson = ?", (lesson,))
    else:
        connection.execute(
            "INSERT OR REPLACE INTO reviews (lesson, verdict, at) VALUES (?, ?, ?)", (lesson, verdict, at)
        )


def written_stamp(connection: sqlite3.Connection) -> tuple[float, ...]:
    """A value that changes whenever a written lesson or an approval does."""
    found: list[float] = []
    for table in ("written_lessons", "approvals"):
        number, total = connection.execute(f"SELECT count(*), total(at) FROM {table}").fetchone()  # noqa: S608 - names of our own
        found += (float(number), float(total))
    return tuple(found)
