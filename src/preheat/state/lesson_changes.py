"""What people did with lessons, one row for each thing, with what was before it: so each can be undone. Knows no wording."""

import sqlite3
from collections.abc import Collection, Iterable

import msgspec

from preheat.model.lesson import LessonAction, LessonChange, LessonRecord
from preheat.state import marks, written_lessons

_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(tuple[LessonRecord, ...])
_MOST = 500
"""Changes that are kept: older ones cannot be undone any more."""


def take_records(connection: sqlite3.Connection, lessons: Iterable[str]) -> tuple[LessonRecord, ...]:
    """What people have said of these lessons so far."""
    marked, approved = marks.marks(connection), marks.approvals(connection)
    written = {each.lesson.id: each for each in written_lessons.written_lessons(connection)}
    reviewed = written_lessons.reviews(connection)
    return tuple(
        LessonRecord(each, marked.get(each), approved.get(each), written.get(each), reviewed.get(each))
        for each in lessons
    )


def add_change(
    connection: sqlite3.Connection, action: LessonAction, before: tuple[LessonRecord, ...], at: float
) -> None:
    """Note what was done, with what was before."""
    connection.execute(
        "INSERT INTO lesson_changes (at, action, lesson, before) VALUES (?, ?, ?, ?)",
        (at, action, before[0].lesson, _ENCODER.encode(before)),
    )
    connection.execute(
        "DELETE FROM lesson_changes WHERE number <= (SELECT max(number) FROM lesson_changes) - ?", (_MOST,)
    )


def last_change(connection: sqlite3.Connection, lesson: str = "") -> LessonChange | None:
    """The last thing that was done with any lesson, or with the lesson whose id is given; None if nothing was."""
    rows = connection.execute("SELECT number, at, action, before FROM lesson_changes ORDER BY number DESC")
    for number, at, action, data in rows:
        before = _DECODER.decode(data)
        if not lesson or any(each.lesson == lesson for each in before):
            return LessonChange(number, at, action, before)
    return None


def undo_change(connection: sqlite3.Connection, change: LessonChange, at: float) -> None:
    """Restore what was before a change, and forget the change."""
    for record in change.before:
        restore_record(connection, record, at)
    connection.execute("DELETE FROM lesson_changes WHERE number = ?", (change.number,))


def restore_record(connection: sqlite3.Connection, record: LessonRecord, at: float) -> None:
    """Make what people said of a lesson what a record says."""
    mark = record.mark
    marks.set_mark(
        connection, record.lesson, mark.mark if mark else None, mark.why if mark else "", mark.at if mark else at
    )
    if record.approval is None:
        marks.withdraw_approval(connection, record.lesson)
    else:
        marks.approve(connection, record.approval)
    if record.written is None:
        written_lessons.delete_written_lesson(connection, record.lesson)
    else:
        written_lessons.store_written_lesson(connection, record.written)
    written_lessons.set_review(connection, record.lesson, record.review, at)


def forget_cited_lessons(connection: sqlite3.Connection, sessions: Collection[str]) -> int:
    """Delete the lessons of a person's own agent that cite one of these sessions, with all that was done with them; how many.
    What a person wrote or edited stays: it is the person's own."""
    gone = {
        written.lesson.id
        for written in written_lessons.written_lessons(connection)
        if written.lesson.author == "agent" and any(each.session in sessions for each in written.lesson.evidence)
    }
    for lesson in sorted(gone):
        restore_record(connection, LessonRecord(lesson, None, None, None, None), 0.0)
    if gone:
        rows = connection.execute("SELECT number, before FROM lesson_changes ORDER BY number").fetchall()
        for number, data in rows:
            if any(each.lesson in gone for each in _DECODER.decode(data)):
                connection.execute("DELETE FROM lesson_changes WHERE number = ?", (number,))
    return len(gone)
