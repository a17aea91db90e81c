"""The lessons, and what people do with them: listed, written, edited, approved, pinned, retired, reviewed, undone.

Knows nothing of how lessons are learned (`app.learning`) or handed out (`app.context`).
"""

import os
import sqlite3
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from typing import NamedTuple

import msgspec

from preheat.amounts import format_count
from preheat.app.context import approved_texts, load_folder_facts
from preheat.app.experiments.withdrawal import bring_back
from preheat.app.facts import Contradiction, contradictions
from preheat.app.project_assignment import assign_archive
from preheat.app.projects import find_project, require_project
from preheat.archive import lessons as stored
from preheat.archive.connect import connect
from preheat.archive.database import ArchiveConnection
from preheat.archive.results import find_failed_calls, load_call_summaries
from preheat.errors import NotFound, UserError
from preheat.ingest.redact import redact
from preheat.model.lesson import (
    LONGEST_TEXT,
    Approval,
    Evidence,
    Lesson,
    LessonAction,
    LessonMark,
    MarkKind,
    NewLesson,
    Scope,
    WrittenLesson,
    lesson_id,
    text_digest,
)
from preheat.model.received import LessonConflict
from preheat.provisioning.lesson_text import describe_lesson
from preheat.safe_text.cleanup import make_harmless_line, strip_invisible
from preheat.state import lesson_changes, marks, written_lessons
from preheat.state.connect import reading, writing

__all__ = [
    "LessonConflict",
    "LessonMark",
    "Lessons",
    "MarkKind",
    "MarkedLesson",
    "NewLesson",
    "ReviewedLesson",
    "UndoneChange",
]

_LASTING = 36500.0
"""The half-life of what a person wrote, in days: it does not fade."""


class MarkedLesson(NamedTuple):
    """A lesson after a person marked it."""

    lesson: Lesson
    was_marked: bool
    """Whether it had a mark before."""


class SavedLesson(NamedTuple):
    """A lesson that a person wrote, edited or approved."""

    lesson: Lesson
    said: str
    """The line that a session is given, exactly."""
    secrets: int = 0
    """Secrets that were taken out of the text."""


def _with_call(evidence: Evidence, texts: Mapping[tuple[str, int], str]) -> Evidence:
    if evidence.text or evidence.seq is None:
        return evidence
    return msgspec.structs.replace(evidence, text=texts.get((evidence.session, evidence.seq), ""))


class ReviewedLesson(NamedTuple):
    """A lesson that a person has not decided on yet."""

    lesson: Lesson
    said: str
    """The line that a session is given, or is given if the person keeps it."""
    needs_approval: bool
    """No session is given it before the person keeps it."""


class UndoneChange(NamedTuple):
    """What was undone."""

    action: LessonAction
    lesson: str
    """The id of the lesson."""
    text: str
    """Its text now, or before it was removed."""


class Lessons:
    """The lessons in the archive of a folder."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def lessons(self, project: str | None = None) -> list[Lesson]:
        """Lessons, the best first: all, or those of a project (name or folder) and the general ones."""
        with closing(connect(self._folder)) as connection:
            names = None if project is None else ("", require_project(connection, project))
            where = project if project is not None and os.path.isdir(project) else ""
            return stored.load_lessons(connection, names, where)

    def conflicts(self, project: str | None = None) -> list[LessonConflict]:
        """Where our lessons and trusted ones of others contradict each other, and which are handed out: all, or of a project."""
        with closing(connect(self._folder)) as connection:
            names = None if project is None else ("", require_project(connection, project))
            where = project if project is not None and os.path.isdir(project) else ""
            return stored.load_conflicts(connection, names, where)

    def find(self, name: str) -> Lesson:
        """A lesson by its id or the beginning of it. Raises NotFound."""
        with closing(connect(self._folder)) as connection:
            return _find(connection, name)

    def failed_evidence(self, lesson: Lesson) -> set[tuple[str, int]]:
        """The calls among a lesson's evidence (key of the session and place) that failed: they show what does not work."""
        cited = [(each.session, each.seq) for each in lesson.evidence if each.seq is not None]
        with closing(connect(self._folder)) as connection:
            return find_failed_calls(connection, cited)

    def with_cited_calls(self, lessons: Sequence[Lesson]) -> list[Lesson]:
        """The lessons with the calls that they cite where their evidence has only the place of a call."""
        cited = {
            (each.session, each.seq)
            for lesson in lessons
            for each in lesson.evidence
            if not each.text and each.seq is not None
        }
        with closing(connect(self._folder)) as connection:
            texts = load_call_summaries(connection, sorted(cited))
        return [
            msgspec.structs.replace(lesson, evidence=tuple(_with_call(each, texts) for each in lesson.evidence))
            for lesson in lessons
        ]

    # Marks and approvals.
    def marks(self) -> dict[str, LessonMark]:
        """The mark of each lesson that has one, by its id."""
        with reading(self._folder) as state:
            return marks.marks(state)

    def mark(self, name: str, mark: MarkKind | None, why: str = "") -> MarkedLesson:
        """Pin or retire a lesson by its id or the beginning of it; None removes the mark. Unless it is retired, a lesson that an
        experiment withdrew is brought back. Raises NotFound."""
        found = self.find(name)
        if mark == "pinned":
            _require_unsuspicious(found, "pinned")
        before = self.marks().get(found.id)
        actions: dict[MarkKind | None, LessonAction] = {"pinned": "pin", "retired": "retire", None: "release"}
        with writing(self._folder) as state:
            if mark is not None or before is not None:
                _note_change(state, actions[mark], [found.id])
            marks.set_mark(state, found.id, mark, why, time.time())
        if mark != "retired":
            bring_back(self._folder, found.id)
        return MarkedLesson(self.find(found.id), before is not None)

    def approvals(self) -> dict[str, Approval]:
        """The approval of each lesson that has one, by its id."""
        with reading(self._folder) as state:
            return marks.approvals(state)

    def approve(self, approval: Approval) -> None:
        """Store a person's approval of a lesson."""
        with writing(self._folder) as state:
            marks.approve(state, approval)

    def approved_texts(self) -> frozenset[str]:
        """The digests (`text_digest`) of the texts that a person approved: these are handed on as they stand."""
        return approved_texts(self._folder)

    def facts(self, where: str, agent: str = "") -> list[Lesson]:
        """The lessons and facts of the project around a folder: what sessions taught and what its files say, joined; with an
        agent without what that reads by itself. Raises PreheatError."""
        return load_folder_facts(self._folder, where, (agent,) if agent else ()).for_agent(agent)

    def contradictions(self, where: str) -> list[Contradiction]:
        """What the instruction files and the README of the project around a folder say otherwise than its tree and its sessions
        show: commands that fail or are gone, several package managers. Raises PreheatError."""
        known = load_folder_facts(self._folder, where)
        return contradictions(where, known.name, known.lessons)

    def withdraw_approval(self, lesson: str) -> bool:
        """Remove the approval of a lesson; whether there was one."""
        with writing(self._folder) as state:
            return marks.withdraw_approval(state, lesson)

    def approve_text(self, name: str, why: str = "") -> SavedLesson:
        """Approve the text of a lesson, by its id or the beginning of it, as it stands: sessions are given these very words. A
        changed text is not approved. Raises NotFound and UserError."""
        found = self.find(name)
        _require_unsuspicious(found, "approved")
        if found.status == "retired":
            raise UserError(f"`{found.id}` is retired ({found.why}); `preheat lessons release {found.id}` comes first")
        with writing(self._folder) as state:
            _note_change(state, "approve", [found.id])
            marks.approve(state, Approval(found.id, _approved_digest(found), why, time.time()))
        return self._load_saved(found.id)

    # Lessons of a person.
    def add(self, new: NewLesson, project: str | None) -> SavedLesson:
        """Store a lesson that a person wrote, for a project (name or folder) or for all (None). It is handed on in these words,
        without secrets. Raises UserError."""
        found, secrets = _word(new)
        with closing(connect(self._folder)) as connection:
            assign_archive(connection)
            name = require_project(connection, project) if project is not None else ""
            place = find_project(connection, project) if project is not None else None
        now = time.time()
        scope = Scope(project=name)
        lesson = Lesson(
            id=lesson_id("convention", scope, "person", found.text),
            kind="convention",
            scope=scope,
            topic=found.topic,
            text=found.text,
            use=found.command,
            avoid=found.instead_of,
            first_seen=now,
            last_seen=now,
            half_life=_LASTING,
            pinned=True,
            score=1.0,
            reach=1.0,
            author="person",
        )
        self._write(WrittenLesson(lesson, place.key if place is not None else "", "", now), "add", [lesson.id])
        return self._load_saved(lesson.id)._replace(secrets=secrets)

    def edit(self, name: str, text: str) -> SavedLesson:
        """Give a lesson, by its id or the beginning of it, the words of a person. A learned one is kept, retired, beside its
        edited form. Raises NotFound and UserError."""
        before = self.find(name)
        if before.packet is not None:
            raise UserError(
                f"`{before.id}` says where the last session ended and is made anew by each session; it cannot be edited"
            )
        found, secrets = _word(NewLesson(text))
        now = time.time()
        with reading(self._folder) as state:
            known = {each.lesson.id: each for each in written_lessons.written_lessons(state)}
        with closing(connect(self._folder)) as connection:
            place = find_project(connection, before.scope.project) if before.scope.project else None
        own = known.get(before.id)
        identity = before.id if own is not None else lesson_id(before.kind, before.scope, "person", before.id)
        lesson = msgspec.structs.replace(
            before,
            id=identity,
            text=found.text,
            status="active",
            why="",
            last_seen=now,
            half_life=_LASTING,
            expires_at=None,
            pinned=True,
            score=1.0,
            reach=1.0,
            author="person",
        )
        replaced = own.replaces if own is not None else before.id
        key = own.project if own is not None else place.key if place is not None else ""
        self._write(WrittenLesson(lesson, key, replaced, now), "edit", [identity, *({before.id} - {identity})])
        return self._load_saved(identity)._replace(secrets=secrets)

    def propose(self, lessons: Iterable[WrittenLesson]) -> int:
        """Store lessons that a person's own agent proposed: they wait for a review. Those that are known by their ids stay as
        they are. Returns how many are new."""
        added = 0
        with writing(self._folder) as state:
            known = {each.lesson.id for each in written_lessons.written_lessons(state)}
            for each in lessons:
                if each.lesson.id not in known:
                    written_lessons.store_written_lesson(state, each)
                    added += 1
        return added

    # Reviews.
    def review(self, project: str | None = None) -> list[ReviewedLesson]:
        """The lessons that a person has not decided on yet: those of the person's own agent first, then the best. Of all, or of a
        project (name or folder) and then the general ones."""
        now = time.time()
        with reading(self._folder) as state:
            decided = written_lessons.reviews(state)
        approved = self.approved_texts()
        found = [
            _describe_for_review(each, approved)
            for each in self.lessons(project)
            if (each.is_usable(now) or each.status == "waiting")
            and not (
                each.pinned or each.id in decided or each.packet is not None or each.author == "person" or each.origin
            )
        ]
        return sorted(
            (each for each in found if each.said),
            key=lambda each: (
                each.lesson.status != "waiting",
                project is not None and not each.lesson.scope.project,
                -each.lesson.score,
                each.lesson.id,
            ),
        )

    def keep(self, name: str) -> SavedLesson:
        """Keep a lesson in a review: it is not shown again, and approved if no session would be given it otherwise."""
        found = self.find(name)
        _require_unsuspicious(found, "kept")
        item = _describe_for_review(found, self.approved_texts())
        with writing(self._folder) as state:
            _note_change(state, "keep", [found.id])
            written_lessons.set_review(state, found.id, "kept", time.time())
            if item.needs_approval:
                marks.approve(state, Approval(found.id, _approved_digest(found), "kept in a review", time.time()))
        return self._load_saved(found.id)

    def drop(self, name: str) -> Lesson:
        """Drop a lesson in a review: no session is given it again."""
        found = self.find(name)
        with writing(self._folder) as state:
            _note_change(state, "drop", [found.id])
            written_lessons.set_review(state, found.id, "dropped", time.time())
            marks.set_mark(state, found.id, "retired", "dropped in a review", time.time())
        return self.find(found.id)

    def undo(self, name: str = "") -> UndoneChange:
        """Undo the last thing that a person did with a lesson (by the beginning of its id), or with any. Raises NotFound."""
        before = self.find(name) if name else None
        with writing(self._folder) as state:
            change = lesson_changes.last_change(state, before.id if before else "")
            if change is None:
                what = f"with `{before.id}`" if before else "with lessons"
                raise NotFound(f"you have done nothing {what} that can be undone")
            named = change.before[0].lesson
            text = self.find(named).text
            lesson_changes.undo_change(state, change, time.time())
        return UndoneChange(change.action, named, text)

    def _write(self, written: WrittenLesson, action: LessonAction, touched: list[str]) -> None:
        identity = written.lesson.id
        with writing(self._folder) as state:
            _note_change(state, action, touched)
            written_lessons.store_written_lesson(state, written)
            marks.approve(state, Approval(identity, text_digest(written.lesson.text), "written by you", written.at))
            marks.set_mark(state, identity, None, "", written.at)
            if action == "edit":
                for each in touched:
                    written_lessons.set_review(state, each, "edited", written.at)

    def _load_saved(self, identity: str) -> SavedLesson:
        found = self.find(identity)
        return SavedLesson(found, describe_lesson(found, self.approved_texts()))


def _find(connection: ArchiveConnection, name: str) -> Lesson:
    found = [each for each in stored.load_lessons(connection) if each.id.startswith(name)]
    exact = [each for each in found if each.id == name]
    if len(exact or found) == 1:
        return (exact or found)[0]
    if found:
        raise NotFound(
            f"`{name}` begins {format_count(len(found), 'lesson')}: {', '.join(each.id for each in found[:6])}"
        )
    raise NotFound(f"no lesson `{name}`; `preheat lessons list --all` shows them with their ids")


def _require_unsuspicious(lesson: Lesson, done: str) -> None:
    if lesson.status == "quarantined":
        raise UserError(
            f"`{lesson.id}` is quarantined ({lesson.why}) and cannot be {done}; `preheat lessons show {lesson.id}`"
        )


def _note_change(state: sqlite3.Connection, action: LessonAction, lessons: Iterable[str]) -> None:
    lesson_changes.add_change(state, action, lesson_changes.take_records(state, lessons), time.time())


def _approved_digest(lesson: Lesson) -> str:
    return text_digest(lesson.packet.goal if lesson.packet is not None else lesson.text)


def _describe_for_review(lesson: Lesson, approved: frozenset[str]) -> ReviewedLesson:
    said = describe_lesson(lesson, approved)
    if said and lesson.status == "active":
        return ReviewedLesson(lesson, said, needs_approval=False)
    return ReviewedLesson(lesson, make_harmless_line(lesson.text, LONGEST_TEXT), needs_approval=True)


# The words of a person.
def _word(new: NewLesson) -> tuple[NewLesson, int]:
    """What a person wrote as it will be said, on one line and without secrets, and how many of these were taken out."""
    secrets = 0
    cleaned = []
    for given in new:
        block, counts = redact(" ".join(strip_invisible(given).split()).encode("utf-8", "replace"))
        secrets += sum(counts.values())
        cleaned.append(block.decode("utf-8", "replace"))
    found = NewLesson(*cleaned)
    text = found.text or _word_command(found)
    if not text:
        raise UserError(
            "a lesson needs words or a command: `preheat lessons add 'run make gen after editing the schema'`"
        )
    said = make_harmless_line(text, 8 * LONGEST_TEXT)
    if len(said) > LONGEST_TEXT:
        raise UserError(
            f"a lesson is one line of at most {LONGEST_TEXT} characters, this has {len(said):,}; make two of it, or shorten it"
        )
    return found._replace(text=said), secrets


def _word_command(new: NewLesson) -> str:
    if not new.command and not new.instead_of:
        return ""
    about = f"{new.topic}: " if new.topic else ""
    if not new.command:
        return f"{about}do not use `{new.instead_of}` here"
    return f"{about}use `{new.command}`" + (f", not `{new.instead_of}`" if new.instead_of else "")
