"""Learning: runs the learners over the notes of all sessions, weighs their lessons, and reports what is new.

Knows no learner by name; their order is `lessons.LEARNERS`. Reads no session: what is not analysed yet is analysed first
(`app.analysis.one_pass`).
"""

import sqlite3
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import closing
from typing import NamedTuple

from preheat.app.analysis.assessment import assess
from preheat.app.analysis.one_pass import analyse_archive, seen_by_learners
from preheat.app.experiments.state import exposures
from preheat.app.experiments.withdrawal import left_alone, withdraw
from preheat.app.learning.conclusions import EVERYWHERE, Concluded, conclude, drop_gone, revise
from preheat.app.projects import projects
from preheat.app.sessions.archive import load
from preheat.archive import lessons as stored
from preheat.archive import notes
from preheat.archive.analyses import mark_learned, unlearned
from preheat.archive.connect import connect, unusable
from preheat.archive.lessons import Place
from preheat.archive.writer import writing
from preheat.ingest.rereading import Unreadable
from preheat.lessons.effectiveness import effects as measure_effects
from preheat.lessons.learner import Learner, Noted
from preheat.lessons.learners import LEARNERS, revised
from preheat.model.exposure import Effect
from preheat.model.lesson import Lesson
from preheat.model.profile import SessionProfile
from preheat.model.progress import SILENT, Progress
from preheat.settings import archive_path

_MOST_MISTAKES = 5
_ROUNDS = 3
"""Rounds of learning: a session that is forgotten while its project is learned from must leave no trace."""
_TOKENS_PER_SECOND = 30
"""The tokens that a lost second counts as: about what a model writes in a second."""


class TaskReport(NamedTuple):
    """What one learner did."""

    name: str
    line: str
    """What the learner knows now, in a sentence."""
    projects: int
    """Projects that it was run on; `sessions` are those whose notes it read for that."""
    sessions: int
    lessons: int
    """Its active lessons."""


class LearnReport(NamedTuple):
    """What learning did."""

    sessions: int
    """Sessions that are new or changed since they were last learned from."""
    projects: int
    """Projects in which anything changed."""
    tasks: list[TaskReport]
    mistakes: list[Lesson]
    """The most expensive repeated mistakes, with the repair where one is known."""
    failures: list[Unreadable]
    seconds: float
    proof: tuple[str, ...] = ()
    """What was withdrawn because experiments show that it does not help, and pinned items that do not help."""


def learner_names() -> list[str]:
    """The learners, in their order."""
    return [learner.name for learner in LEARNERS]


def learn(folder: str, tasks: tuple[str, ...] = (), progress: Progress = SILENT) -> LearnReport:
    """Analyse new sessions, and learn from what is new: with all ten learners in their order, or with the named ones."""
    started = time.perf_counter()
    analysed = analyse_archive(folder, progress)
    chosen = [learner for learner in LEARNERS if not tasks or learner.name in tasks]
    connection = connect(folder)
    try:
        done = _run_learners(connection, chosen, progress, left_alone(folder))
        proof = _withdraw(folder, connection)
    except sqlite3.DatabaseError as error:
        raise unusable(archive_path(folder), error) from error
    finally:
        progress.end()
        connection.close()
    seconds = time.perf_counter() - started
    return LearnReport(done.sessions, done.projects, done.tasks, done.mistakes, analysed.failures, seconds, proof)


def _withdraw(folder: str, connection: sqlite3.Connection) -> tuple[str, ...]:
    """What experiments show to be withdrawn, a sentence each."""
    found = withdraw(folder, connection)
    return (*found.lines, *found.warnings)


class Learned(NamedTuple):
    """The result of a run of the learners."""

    sessions: int
    projects: int
    tasks: list[TaskReport]
    mistakes: list[Lesson]


def _is_mistake(lesson: Lesson) -> bool:
    return lesson.kind in ("repair", "error") and lesson.status == "active" and lesson.support.sessions_for > 1


def _cost_order(lesson: Lesson) -> tuple[float, str]:
    return -(lesson.cost_tokens + _TOKENS_PER_SECOND * lesson.cost_seconds), lesson.id


def _run_learners(
    connection: sqlite3.Connection, chosen: list[Learner], progress: Progress, brought_back: frozenset[str]
) -> Learned:
    places = projects(notes.folders(connection))
    if {place.folder: place for place in stored.places(connection)} != places:
        with writing(connection):
            stored.store_places(connection, places.values())
    new = unlearned(connection)
    concluded, changed = _conclude_and_weigh(connection, chosen, places, progress, brought_back)
    if new:
        with writing(connection):
            mark_learned(connection, new)
    known = stored.by_learner(connection)
    by_name = {each.learner: each for each in concluded}
    reports = []
    for learner in chosen:
        lessons_found = known.get(learner.name, [])
        report = by_name.get(learner.name)
        if learner.weighs:
            lessons_found = [lesson for some in known.values() for lesson in some]
        line = learner.says(lessons_found) if learner.says is not None else ""
        active = sum(lesson.status == "active" for lesson in lessons_found)
        reports.append(
            TaskReport(learner.name, line, report.projects if report else 0, report.sessions if report else 0, active)
        )
    mistakes = sorted((lesson for some in known.values() for lesson in some if _is_mistake(lesson)), key=_cost_order)
    return Learned(len(new), len(changed), reports, mistakes[:_MOST_MISTAKES])


def _conclude_and_weigh(
    connection: sqlite3.Connection,
    chosen: list[Learner],
    places: Mapping[str, Place],
    progress: Progress,
    brought_back: frozenset[str],
) -> tuple[list[Concluded], set[str]]:
    """Run the learners and weigh their lessons; what each did, and the projects in which anything changed. Lessons that a person
    brought back (`wanted`) are weighed without their measured effects."""
    measured = _measured_effects(connection)
    effects = [each for each in measured if each.item not in brought_back]
    reports: list[Concluded] = []
    all_changed: set[str] = set()

    def show_project(learner: str, project: str) -> None:
        progress.advance(0, f"{learner} {project}")

    progress.begin("Concluding", len(chosen))
    for round_number in range(_ROUNDS):
        concluded, changed = conclude(connection, chosen, places, show_project)
        changed -= drop_gone(connection, places)
        changed |= stored.unweighed(connection)  # a run that was killed may have stored lessons without weighing them
        if measured and not round_number:  # measured effects may concern any lesson
            changed = {place.name for place in places.values()} | {EVERYWHERE}
        revise(connection, LEARNERS, changed, places, lambda lessons, noted: revised(lessons, effects, noted))
        reports, all_changed = reports or concluded, all_changed | changed
        if not changed:
            break
    return reports, all_changed


def _measured_effects(connection: sqlite3.Connection) -> list[Effect]:
    """The effects of items that were assigned at random."""
    assigned = exposures(connection)
    return (
        measure_effects(assigned, stored.measured(connection, {exposure.session for exposure in assigned}))
        if assigned
        else []
    )


# Learning from chosen sessions only.
class Study(NamedTuple):
    """The lessons of chosen sessions alone."""

    project: str
    """The project that most of the sessions belong to."""
    lessons: list[Lesson]
    """Also those with little support, which are `weak`."""
    profiles: dict[str, SessionProfile]


def study(folder: str, keys: Iterable[str]) -> Study:
    """Learn from exactly these sessions, without storing anything."""
    profiles: dict[str, SessionProfile] = {}
    pages: dict[str, list[Noted[object]]] = {learner.name: [] for learner in LEARNERS}
    project_counts: Counter[str] = Counter()
    with closing(connect(folder)) as connection:
        places = projects(notes.folders(connection))
        for key in keys:
            session = load(connection, key)
            place = places.get(session.project) or Place(session.project, "", "")
            assessed = assess(session)
            seen = seen_by_learners(session, assessed.records, place.root)
            profiles[key] = assessed.profile
            project_counts[place.name] += 1
            for learner in LEARNERS:
                taken = learner.note(seen) if learner.note is not None else None
                if taken is not None:
                    heading = (key, session.agent, place.name, session.started_at, session.ended_at)
                    pages[learner.name].append(Noted(*heading, taken))
    project = min(project_counts, key=lambda name: (-project_counts[name], name)) if project_counts else ""
    lessons: list[Lesson] = []
    for learner in LEARNERS:
        pages[learner.name].sort(key=lambda each: (each.started_at or 0.0, each.session))
        if learner.learn is not None and pages[learner.name]:
            lessons += learner.learn(project or "here", pages[learner.name])
    return Study(project, revised(lessons, [], pages), profiles)
