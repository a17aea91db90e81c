"""Runs each learner over its notes, project by project, and stores the lessons.

Knows none of the learners: they are passed in. A learner is run on a project again only if its notes have changed. Each
conclusion is stored by itself, so that a run can be stopped at any moment and the next one goes on.
"""

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import NamedTuple

import msgspec

from preheat.archive import lessons as stored
from preheat.archive import notes
from preheat.archive.lessons import ProjectFolder
from preheat.archive.writer import write_transaction
from preheat.lessons.learner import Learner, SessionNotes
from preheat.model.lesson import Lesson

ALL_PROJECTS = ""
"""The name of the project that stands for all projects."""


class LearnerRun(NamedTuple):
    """What a learner did in a run."""

    learner: str
    projects: int
    """Projects that it was run on."""
    sessions: int
    """Sessions whose notes it read for that."""


Weigh = Callable[[Sequence[Lesson], Mapping[str, Sequence[SessionNotes[object]]]], list[Lesson]]


def run_learners(
    connection: sqlite3.Connection,
    learners: Sequence[Learner],
    places: Mapping[str, ProjectFolder],
    on_project: Callable[[str, str], None] = lambda learner, project: None,
) -> tuple[list[LearnerRun], set[str]]:
    """Run the learners where notes have changed; what each did, and the projects in which anything changed."""
    digests = stored.load_conclusion_versions(connection)
    changed: set[str] = set()
    reports: list[LearnerRun] = []
    for learner in learners:
        if learner.learn is None:
            continue
        projects = sessions = 0
        noted = _noted_projects(connection, learner, places)
        for project in {project for project, name in digests if name == learner.name} - {each[0] for each in noted}:
            with write_transaction(connection):
                stored.drop_conclusions(connection, project, learner.name)
            changed.add(project)
        for project, numbers, digest in noted:
            if digests.get((project, learner.name)) == (learner.version, digest):
                continue
            on_project(learner.name, project)
            lessons = learner.learn(project, _load_notes(connection, learner, numbers, places))
            with write_transaction(connection):
                stored.store_conclusions(connection, project, learner.name, learner.version, digest, lessons)
            changed.add(project)
            projects, sessions = projects + 1, sessions + len(numbers)
        reports.append(LearnerRun(learner.name, projects, sessions))
    return reports, changed


def _noted_projects(
    connection: sqlite3.Connection, learner: Learner, places: Mapping[str, ProjectFolder]
) -> list[tuple[str, list[int], str]]:
    """By project: the sessions that a learner has notes of, and a digest of these notes."""
    numbers: defaultdict[str, list[int]] = defaultdict(list)
    stamps: defaultdict[str, list[str]] = defaultdict(list)
    for folder, session, stamp, ended in notes.load_note_stamps(connection, learner.name):
        name = places[folder].name if folder in places else ""
        for project in {name, ALL_PROJECTS} if learner.is_general else {name}:
            if project == ALL_PROJECTS and not learner.is_general:
                continue  # sessions without a project teach only general lessons
            numbers[project].append(session)
            stamps[project].append(f"{session} {stamp} {ended}\n")
    return [
        (project, numbers[project], blake2b("".join(stamps[project]).encode(), digest_size=12).hexdigest())
        for project in sorted(numbers)
    ]


def _load_notes(
    connection: sqlite3.Connection, learner: Learner, sessions: Iterable[int], places: Mapping[str, ProjectFolder]
) -> list[SessionNotes[object]]:
    """A learner's notes in time order; sessions without a time come first."""
    decoder = msgspec.msgpack.Decoder(learner.notes_type)
    found = [
        SessionNotes(
            page.session,
            page.agent,
            places[page.folder].name if page.folder in places else "",
            page.started_at,
            page.ended_at,
            decoder.decode(page.data),
        )
        for page in notes.load_notes(connection, learner.name, sessions)
    ]
    return sorted(found, key=lambda each: (each.started_at or 0.0, each.session))


def weigh_lessons(
    connection: sqlite3.Connection,
    learners: Sequence[Learner],
    projects: Iterable[str],
    places: Mapping[str, ProjectFolder],
    how: Weigh,
) -> None:
    """Weigh the lessons of all learners against each other, in each of these projects."""
    wanted = set(projects)
    noted: defaultdict[str, dict[str, list[SessionNotes[object]]]] = defaultdict(dict)
    for learner in learners:
        if wanted and learner.revise is not None and learner.notes_type is not None:
            for project, numbers, _ in _noted_projects(connection, learner, places):
                if project in wanted:
                    noted[project][learner.name] = _load_notes(connection, learner, numbers, places)
    for project in sorted(wanted):
        # Before the lessons are read: lessons that come in meanwhile are weighed the next time.
        state = stored.conclusion_digests(connection).get(project)
        concluded = stored.load_conclusions(connection, project)
        learner_of = {lesson.id: name for name, some in concluded.items() for lesson in some}
        revised: defaultdict[str, list[Lesson]] = defaultdict(list)
        for lesson in how([lesson for some in concluded.values() for lesson in some], noted[project]):
            revised[learner_of.get(lesson.id, "")].append(lesson)
        with write_transaction(connection):
            stored.store_lessons(connection, project, revised)
            stored.store_weighed_digest(connection, project, state)


def drop_unused_projects(connection: sqlite3.Connection, places: Mapping[str, ProjectFolder]) -> set[str]:
    """Delete the lessons of projects that no session belongs to any more; the names of these projects."""
    known = {place.name for place in places.values()} | {ALL_PROJECTS}
    dropped = {project for project, _ in stored.load_conclusion_versions(connection)} - known
    if dropped:
        with write_transaction(connection):
            stored.drop_project_lessons(connection, dropped)
    return dropped
