"""Has each learner conclude over its notes, project by project, and keeps what came of it.

Knows none of the learners: they are handed over. A project is concluded on anew only if its notes have changed since;
each conclusion is stored by itself, so a run can be stopped at any moment and the next one goes on.
"""

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import NamedTuple

import msgspec

from preheat.archive import lessons as kept
from preheat.archive import notes
from preheat.archive.lessons import Place
from preheat.archive.writer import writing
from preheat.lessons.learner import Learner, Noted
from preheat.model.lesson import Lesson

EVERYWHERE = ""
"""The project that stands for all of them."""


class Concluded(NamedTuple):
    """What a learner did in a run."""

    learner: str
    projects: int
    """On which it concluded anew."""
    sessions: int
    """Whose notes it looked at for that."""


Revise = Callable[[Sequence[Lesson], Mapping[str, Sequence[Noted[object]]]], list[Lesson]]


def conclude(
    connection: sqlite3.Connection,
    learners: Sequence[Learner],
    places: Mapping[str, Place],
    on_project: Callable[[str, str], None] = lambda learner, project: None,
) -> tuple[list[Concluded], set[str]]:
    """Let the learners conclude where something is new; what each did, and the projects in which anything changed."""
    seen = kept.seen_by(connection)
    changed: set[str] = set()
    done: list[Concluded] = []
    for learner in learners:
        if learner.learn is None:
            continue
        projects = sessions = 0
        due = _due(connection, learner, places)
        for project in {project for project, name in seen if name == learner.name} - {each[0] for each in due}:
            with writing(connection):
                kept.drop_learning(connection, project, learner.name)
            changed.add(project)
        for project, numbers, digest in due:
            if seen.get((project, learner.name)) == (learner.version, digest):
                continue
            on_project(learner.name, project)
            found = learner.learn(project, _noted(connection, learner, numbers, places))
            with writing(connection):
                kept.store_learning(connection, project, learner.name, learner.version, digest, found)
            changed.add(project)
            projects, sessions = projects + 1, sessions + len(numbers)
        done.append(Concluded(learner.name, projects, sessions))
    return done, changed


def _due(
    connection: sqlite3.Connection, learner: Learner, places: Mapping[str, Place]
) -> list[tuple[str, list[int], str]]:
    """Projects with the sessions that a learner has notes of, and a digest of those notes."""
    numbers: defaultdict[str, list[int]] = defaultdict(list)
    stamps: defaultdict[str, list[str]] = defaultdict(list)
    for folder, session, stamp, ended in notes.stamps(connection, learner.name):
        name = places[folder].name if folder in places else ""
        for project in {name, EVERYWHERE} if learner.general else {name}:
            if project == EVERYWHERE and not learner.general:
                continue  # sessions without a project teach something general or nothing
            numbers[project].append(session)
            stamps[project].append(f"{session} {stamp} {ended}\n")
    return [
        (project, numbers[project], blake2b("".join(stamps[project]).encode(), digest_size=12).hexdigest())
        for project in sorted(numbers)
    ]


def _noted(
    connection: sqlite3.Connection, learner: Learner, sessions: Iterable[int], places: Mapping[str, Place]
) -> list[Noted[object]]:
    """The notes in time order: sessions that do not say when they were come first."""
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
    """Weigh the conclusions of all learners against each other, for each of these projects."""
    wanted = set(projects)
    noted: defaultdict[str, dict[str, list[Noted[object]]]] = defaultdict(dict)
    for learner in learners:
        if wanted and learner.revise is not None and learner.notes is not None:
            for project, numbers, _ in _due(connection, learner, places):
                if project in wanted:
                    noted[project][learner.name] = _noted(connection, learner, numbers, places)
    for project in sorted(wanted):
        state = kept.states(connection).get(
            project
        )  # before they are read: what comes in meanwhile is weighed the next time
        concluded = kept.learned(connection, project)
        learner_of = {lesson.id: name for name, some in concluded.items() for lesson in some}
        revised: defaultdict[str, list[Lesson]] = defaultdict(list)
        for lesson in how([lesson for some in concluded.values() for lesson in some], noted[project]):
            revised[learner_of.get(lesson.id, "")].append(lesson)
        with writing(connection):
            kept.store_lessons(connection, project, revised)
            kept.store_weighed(connection, project, state)


def drop_gone(connection: sqlite3.Connection, places: Mapping[str, Place]) -> set[str]:
    """Take away what was learned of projects that no session belongs to any more; their names come back."""
    known = {place.name for place in places.values()} | {EVERYWHERE}
    gone = {project for project, _ in kept.seen_by(connection)} - known
    if gone:
        with writing(connection):
            kept.drop_projects(connection, gone)
    return gone
