"""The stage that learns: conclusions over the notes that were taken of every session, and what the archive knows by then.

Knows none of the learners by name; their order is `lessons.LEARNERS`. No session is read here: what of the archive is not
analysed as it is now is analysed first (`app.analysis.one_pass`).
"""

import sqlite3
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from preheat.app.analysis.assessment import assess
from preheat.app.analysis.one_pass import analyse_archive, seen_by_learners
from preheat.app.experiments.state import exposures
from preheat.app.experiments.withdrawal import left_alone, withdraw
from preheat.app.learning import conclusions
from preheat.app.learning.conclusions import Concluded
from preheat.app.projects import projects
from preheat.app.sessions.archive import load
from preheat.archive import lessons as kept
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

_DEAREST = 5
_TURNS = 3
"""A session that was forgotten while its project was learned from must leave no trace: what was concluded is looked at again."""
_SECOND = 30
"""Tokens that a lost second counts as: about what a model writes in one."""


class TaskReport(NamedTuple):
    """What one learner did."""

    name: str
    line: str
    """What it knows now, in a sentence."""
    projects: int
    """On which it concluded anew; `sessions` are those whose notes it looked at for that."""
    sessions: int
    lessons: int
    """That it has learned and that are handed out."""


class LearnReport(NamedTuple):
    """What learning did."""

    sessions: int
    """New, or not as they were when they were last learned from."""
    projects: int
    """In which anything changed."""
    tasks: list[TaskReport]
    mistakes: list[Lesson]
    """The dearest ones that came again, with what fixes them where that is known."""
    failures: list[Unreadable]
    seconds: float
    proof: tuple[str, ...] = ()
    """What was withdrawn because lots showed that it does not pay, and what a person pinned although it does not."""


def learner_names() -> list[str]:
    """The learners, in their order."""
    return [learner.name for learner in LEARNERS]


def learn(folder: str, tasks: tuple[str, ...] = (), progress: Progress = SILENT) -> LearnReport:
    """Analyse what is not analysed as it is now, and learn from what is new: all ten learners in their order, or those that are
    named."""
    started = time.perf_counter()
    analysed = analyse_archive(folder, progress)
    chosen = [learner for learner in LEARNERS if not tasks or learner.name in tasks]
    connection = connect(folder)
    try:
        done = _learned(connection, chosen, progress, left_alone(folder))
        proof = _proof(folder, connection)
    except sqlite3.DatabaseError as error:
        raise unusable(archive_path(folder), error) from error
    finally:
        progress.end()
        connection.close()
    seconds = time.perf_counter() - started
    return LearnReport(done.sessions, done.projects, done.tasks, done.mistakes, analysed.failures, seconds, proof)


def _proof(folder: str, connection: sqlite3.Connection) -> tuple[str, ...]:
    """What is withdrawn by what the lots have shown."""
    found = withdraw(folder, connection)
    return (*found.lines, *found.warnings)


class Learned(NamedTuple):
    """What came of a run."""

    sessions: int
    projects: int
    tasks: list[TaskReport]
    mistakes: list[Lesson]


def _is_mistake(lesson: Lesson) -> bool:
    return lesson.kind in ("repair", "error") and lesson.status == "active" and lesson.support.sessions_for > 1


def _cost(lesson: Lesson) -> tuple[float, str]:
    return -(lesson.cost_tokens + _SECOND * lesson.cost_seconds), lesson.id


def _learned(
    connection: sqlite3.Connection, chosen: list[Learner], progress: Progress, wanted: frozenset[str]
) -> Learned:
    places = projects(notes.folders(connection))
    if {place.folder: place for place in kept.places(connection)} != places:
        with writing(connection):
            kept.store_places(connection, places.values())
    new = unlearned(connection)
    done, changed = _concluded(connection, chosen, places, progress, wanted)
    if new:
        with writing(connection):
            mark_learned(connection, new)
    known = kept.by_learner(connection)
    by_name = {each.learner: each for each in done}
    reports = []
    for learner in chosen:
        found = known.get(learner.name, [])
        did = by_name.get(learner.name)
        if learner.weighs:
            found = [lesson for some in known.values() for lesson in some]
        line = learner.says(found) if learner.says is not None else ""
        active = sum(lesson.status == "active" for lesson in found)
        reports.append(TaskReport(learner.name, line, did.projects if did else 0, did.sessions if did else 0, active))
    dearest = sorted((lesson for some in known.values() for lesson in some if _is_mistake(lesson)), key=_cost)
    return Learned(len(new), len(changed), reports, dearest[:_DEAREST])


def _concluded(
    connection: sqlite3.Connection,
    chosen: list[Learner],
    places: Mapping[str, Place],
    progress: Progress,
    wanted: frozenset[str],
) -> tuple[list[Concluded], set[str]]:
    """Have the learners conclude and their lessons weighed; what each did, and the projects in which anything changed. Lessons
    that a person brought back (`wanted`) are weighed without what was measured of them."""
    measured = _effects(connection)
    effects = [each for each in measured if each.item not in wanted]
    did: list[Concluded] = []
    touched: set[str] = set()

    def concluding(learner: str, project: str) -> None:
        progress.advance(0, f"{learner} {project}")

    progress.begin("Concluding", len(chosen))
    for turn in range(_TURNS):
        done, changed = conclusions.conclude(connection, chosen, places, concluding)
        changed -= conclusions.drop_gone(connection, places)
        changed |= kept.unweighed(connection)  # a run that was killed may have concluded and no more
        if measured and not turn:  # what was measured may concern any lesson
            changed = {place.name for place in places.values()} | {conclusions.EVERYWHERE}
        conclusions.revise(
            connection, LEARNERS, changed, places, lambda lessons, noted: revised(lessons, effects, noted)
        )
        did, touched = did or done, touched | changed
        if not changed:
            break
    return did, touched


def _effects(connection: sqlite3.Connection) -> list[Effect]:
    """What items did, as far as lots were drawn for them."""
    lots = exposures(connection)
    return measure_effects(lots, kept.measured(connection, {lot.session for lot in lots})) if lots else []


# Learning from chosen sessions only.
class Study(NamedTuple):
    """What some sessions teach by themselves."""

    project: str
    """The project that most of them belong to."""
    lessons: list[Lesson]
    """Also those that rest on too little to be handed out by themselves: they are `weak`."""
    profiles: dict[str, SessionProfile]


def study(folder: str, keys: Iterable[str]) -> Study:
    """Learn from exactly these sessions, without keeping anything."""
    profiles: dict[str, SessionProfile] = {}
    pages: dict[str, list[Noted[object]]] = {learner.name: [] for learner in LEARNERS}
    named: Counter[str] = Counter()
    connection = connect(folder)
    try:
        places = projects(notes.folders(connection))
        for key in keys:
            session = load(connection, key)
            place = places.get(session.project) or Place(session.project, "", "")
            assessed = assess(session)
            seen = seen_by_learners(session, assessed.records, place.root)
            profiles[key] = assessed.profile
            named[place.name] += 1
            for learner in LEARNERS:
                found = learner.note(seen) if learner.note is not None else None
                if found is not None:
                    heading = (key, session.agent, place.name, session.started_at, session.ended_at)
                    pages[learner.name].append(Noted(*heading, found))
    finally:
        connection.close()
    project = min(named, key=lambda name: (-named[name], name)) if named else ""
    learned: list[Lesson] = []
    for learner in LEARNERS:
        pages[learner.name].sort(key=lambda each: (each.started_at or 0.0, each.session))
        if learner.learn is not None and pages[learner.name]:
            learned += learner.learn(project or "here", pages[learner.name])
    return Study(project, revised(learned, [], pages), profiles)
