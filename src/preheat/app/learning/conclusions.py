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
from preheat.archive.lessons import Place
from preheat.archive.writer import writing
from preheat.lessons.learner import Learner, Noted
from preheat.model.lesson import Lesson

EVERYWHERE = ""
"""The name of the project that stands for all projects."""


class Concluded(NamedTuple):
    """What a learner did in a run."""

    learner: str
    projects: int
    """Projects that it was run on."""
    sessions: int
    """Sessions whose notes it read for that."""


Revise = Callable[[Sequence[Lesson], Mapping[str, Sequence[Noted[object]]]], list[Lesson]]


def conclude(
    connection: sqlite3.Connection,
    learners: Sequence[Learner],
    places: Mapping[str, Place],
    on_project: Callable[[str, str], None] = lambda learner, project: None,
) -> tuple[list[Concluded], set[str]]:
    """Run the learners where notes have changed; what each did, and the projects in which anything changed."""
    digests = stored.seen_by(connection)
    changed: set[str] = set()
    reports: list[Concluded] = []
    for learner in learners:
        if learner.learn is None:
            continue
        projects = sessions = 0
        noted = _noted_projects(connection, learner, places)
        for project in {project for project, name in digests if name == learner.name} - {each[0] for each in noted}:
            with writing(connection):
                stored.drop_learning(connection, project, learner.name)
            changed.add(project)
        for project, numbers, digest in noted:
            if digests.get((project, learner.name)) == (learner.version, digest):
                continue
            on_project(learner.name, project)
            lessons = learner.learn(project, _load_notes(connection, learner, numbers, places))
            with writing(connection):
                stored.store_learning(connection, project, learner.name, learner.version, digest, lessons)
            changed.add(project)
            projects, sessions = projects + 1, sessions + len(numbers)
        reports.append(Concluded(learner.name, projects, sessions))
    return reports, changed


def _noted_projects(
    connection: sqlite3.Connection, learner: Learner, places: Mapping[str, Place]
) -> list[tuple[str, list[int], str]]:
    """By project: the sessions that a learner has notes of, and a digest of these notes."""
    numbers: defaultdict[str, list[int]] = defaultdict(list)
    stamps: defaultdict[str, list[str]] = defaultdict(list)
    for folder, session, stamp, ended in notes.stamps(connection, learner.name):
        name = places[folder].name if folder in places else ""
        for project in {name, EVERYWHERE} if learner.general else {name}:
            if project == EVERYWHERE and not learner.general:
                continue  # sessions without a project teach only general lessons
            numbers[project].append(session)
            stamps[project].append(f"{session} {stamp} {ended}\n")
    return [
        (project, numbers[project], blake2b("".join(stamps[project]).encode(), digest_size=12).hexdigest())
        for project in sorted(numbers)
    ]


def _load_notes(
    connection: sqlite3.Connection, learner: Learner, sessions: Iterable[int], places: Mapping[str, Place]
) -> list[Noted[object]]:
    """A learner's notes in time order; sessions without a time come first."""
    decoder = msgspec.msgpack.Decoder(learner.notes)
    found = [
        Noted(
            page.session,
            page.agent,
            places[page.folder].name if page.folder in places else "",
            page.started_at,
            page.ended_at,
            decoder.decode(page.data),
        )
        for page in notes.kept(connection, learner.name, sessions)
    ]
    return sorted(found, key=lambda each: (each.started_at or 0.0, each.session))


def revise(
    connection: sqlite3.Connection,
    learners: Sequence[Learner],
    projects: Iterable[str],
    places: Mapping[str, Place],
    how: Revise,
) -> None:
    """Weigh the lessons of all learners against each other, in each of these projects."""
    wanted = set(projects)
    noted: defaultdict[str, dict[str, list[Noted[object]]]] = defaultdict(dict)
    for learner in learners:
        if wanted and learner.revise is not None and learner.notes is not None:
            for project, numbers, _ in _noted_projects(connection, learner, places):
                if project in wanted:
                    noted[project][learner.name] = _load_notes(connection, learner, numbers, places)
    for project in sorted(wanted):
        # Before the lessons are read: lessons that come in meanwhile are weighed the next time.
        state = stored.states(connection).get(project)
        concluded = stored.learned(connection, project)
        learner_of = {lesson.id: name for name, some in concluded.items() for lesson in some}
        revised: defaultdict[str, list[Lesson]] = defaultdict(list)
        for lesson in how([lesson for some in concluded.values() for lesson in some], noted[project]):
            revised[learner_of.get(lesson.id, "")].append(lesson)
        with writing(connection):
            stored.store_lessons(connection, project, revised)
            stored.store_weighed(connection, project, state)


def drop_gone(connection: sqlite3.Connection, places: Mapping[str, Place]) -> set[str]:
    """Delete the lessons of projects that no session belongs to any more; the names of these projects."""
    known = {place.name for place in places.values()} | {EVERYWHERE}
    dropped = {project for project, _ in stored.seen_by(connection)} - known
    if dropped:
        with writing(connection):
            stored.drop_projects(connection, dropped)
    return dropped
