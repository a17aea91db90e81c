"""Learning: runs the learners over the notes of all sessions, weighs and stores their lessons, and reports what is new.

Knows no learner by name; their order is `lessons.LEARNERS`. Reads no session: what is not analysed yet is analysed first
(`app.analysis.one_pass`). Each conclusion is stored by itself, so that a run can be stopped at any moment.
"""

import sqlite3
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from hashlib import blake2b
from typing import NamedTuple

import msgspec

from preheat.app.analysis.assessment import assess
from preheat.app.analysis.one_pass import analyse_archive, prepare_for_learners
from preheat.app.experiments.records import load_exposures
from preheat.app.experiments.withdrawal import items_brought_back, withdraw
from preheat.app.project_assignment import assign_archive
from preheat.app.projects import find_place
from preheat.app.sessions import server as _server
from preheat.app.sessions.archive import load_session
from preheat.archive import lessons as stored
from preheat.archive import notes
from preheat.archive.address import find_server
from preheat.archive.analyses import find_unlearned, mark_learned
from preheat.archive.connect import connect, explain_database_error
from preheat.archive.database import ArchiveConnection
from preheat.archive.projects import load_project_names, load_session_projects
from preheat.ingest.stored_sessions import UnreadableSession
from preheat.lessons.conclusion import ALL_PROJECTS, conclude, list_projects, sort_notes, weigh
from preheat.lessons.effectiveness import estimate_effects
from preheat.lessons.learner import Learner, SessionNotes
from preheat.lessons.learners import LEARNERS, revise_lessons
from preheat.model.experiment import ExposureEffect
from preheat.model.lesson import Lesson
from preheat.model.profile import SessionProfile
from preheat.model.progress import SILENT, Progress
from preheat.settings import archive_path

_MOST_MISTAKES = 5
_ROUNDS = 3
"""Rounds of learning: a session that is forgotten while its project is learned from must leave no trace."""
_TOKENS_PER_SECOND = 30
"""The tokens that a lost second counts as: about what a model writes in a second."""


class LearnerReport(NamedTuple):
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
    tasks: list[LearnerReport]
    mistakes: list[Lesson]
    """The most expensive repeated mistakes, with the repair where one is known."""
    failures: list[UnreadableSession]
    seconds: float
    withdrawals: tuple[str, ...] = ()
    """What was withdrawn because experiments show that it does not help, and pinned items that do not help."""


def learner_names() -> list[str]:
    """The learners, in their order."""
    return [learner.name for learner in LEARNERS]


def learn(folder: str, learners: tuple[str, ...] = (), progress: Progress = SILENT) -> LearnReport:
    """Analyse new sessions, and learn from what is new: with all ten learners in their order, or with the named ones."""
    started = time.perf_counter()
    analysed = analyse_archive(folder, progress)
    chosen = [learner for learner in LEARNERS if not learners or learner.name in learners]
    connection = connect(folder)
    try:
        done = _learn_from_archive(connection, chosen, progress, items_brought_back(folder))
        withdrawals = _withdraw(folder, connection)
        if find_server(folder) is not None:
            _server.keep_in_step(folder, connection)
    except sqlite3.DatabaseError as error:
        raise explain_database_error(archive_path(folder), error) from error
    finally:
        progress.end()
        connection.close()
    seconds = time.perf_counter() - started
    return LearnReport(done.sessions, done.projects, done.tasks, done.mistakes, analysed.failures, seconds, withdrawals)


def _withdraw(folder: str, connection: ArchiveConnection) -> tuple[str, ...]:
    """What experiments show to be withdrawn, a sentence each."""
    found = withdraw(folder, connection)
    return (*found.lines, *found.warnings)


class LearnerRun(NamedTuple):
    """What a learner did in a run."""

    learner: str
    projects: int
    """Projects that it was run on."""
    sessions: int
    """Sessions whose notes it read for that."""


class LearningResult(NamedTuple):
    """The result of a run of the learners."""

    sessions: int
    projects: int
    tasks: list[LearnerReport]
    mistakes: list[Lesson]


def _is_mistake(lesson: Lesson) -> bool:
    return lesson.kind in ("repair", "error") and lesson.status == "active" and lesson.support.sessions_for > 1


def _cost_order(lesson: Lesson) -> tuple[float, str]:
    return -(lesson.cost_tokens + _TOKENS_PER_SECOND * lesson.cost_seconds), lesson.id


def _learn_from_archive(
    connection: ArchiveConnection, chosen: list[Learner], progress: Progress, brought_back: frozenset[str]
) -> LearningResult:
    assign_archive(connection)
    new = find_unlearned(connection)
    concluded, changed = _conclude_and_weigh(connection, chosen, progress, brought_back)
    if new:
        with connection.transaction():
            mark_learned(connection, new)
    known = stored.lessons_by_learner(connection)
    by_name = {each.learner: each for each in concluded}
    reports = []
    for learner in chosen:
        lessons_found = known.get(learner.name, [])
        report = by_name.get(learner.name)
        if learner.is_reviewer:
            lessons_found = [lesson for some in known.values() for lesson in some]
        line = learner.describe(lessons_found) if learner.describe is not None else ""
        active = sum(lesson.status == "active" for lesson in lessons_found)
        reports.append(
            LearnerReport(
                learner.name, line, report.projects if report else 0, report.sessions if report else 0, active
            )
        )
    mistakes = sorted((lesson for some in known.values() for lesson in some if _is_mistake(lesson)), key=_cost_order)
    return LearningResult(len(new), len(changed), reports, mistakes[:_MOST_MISTAKES])


def _conclude_and_weigh(
    connection: ArchiveConnection,
    chosen: list[Learner],
    progress: Progress,
    brought_back: frozenset[str],
) -> tuple[list[LearnerRun], set[str]]:
    """Run the learners and weigh their lessons; what each did, and the projects in which anything changed. Lessons that a person
    brought back (`brought_back`) are weighed without their measured effects."""
    measured = _measured_effects(connection)
    effects = [each for each in measured if each.item not in brought_back]
    reports: list[LearnerRun] = []
    all_changed: set[str] = set()

    def show_project(learner: str, project: str) -> None:
        progress.advance(0, f"{learner} {project}")

    progress.begin("Concluding", len(chosen))
    for round_number in range(_ROUNDS):
        concluded, changed = run_learners(connection, chosen, show_project)
        changed -= drop_unused_projects(connection)
        changed |= stored.find_outdated_projects(
            connection
        )  # a run that was killed may have stored lessons without weighing them
        if measured and not round_number:  # measured effects may concern any lesson
            changed = {*load_project_names(connection).values(), ALL_PROJECTS}
        weigh_lessons(connection, changed, effects)
        reports, all_changed = reports or concluded, all_changed | changed
        if not changed:
            break
    return reports, all_changed


def _measured_effects(connection: ArchiveConnection) -> list[ExposureEffect]:
    """The effects of items that were assigned at random."""
    assigned = load_exposures(connection)
    return (
        estimate_effects(
            assigned, stored.load_measured_sessions(connection, {exposure.session for exposure in assigned})
        )
        if assigned
        else []
    )


# The learners, run over their notes project by project.
def run_learners(
    connection: ArchiveConnection,
    learners: Sequence[Learner],
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
        noted = _noted_projects(connection, learner)
        for project in {project for project, name in digests if name == learner.name} - {each[0] for each in noted}:
            with connection.transaction():
                stored.drop_conclusions(connection, project, learner.name)
            changed.add(project)
        for project, numbers, digest in noted:
            if digests.get((project, learner.name)) == (learner.version, digest):
                continue
            on_project(learner.name, project)
            lessons = conclude(learner, project, _load_notes(connection, learner, numbers))
            with connection.transaction():
                stored.store_conclusions(connection, project, learner.name, learner.version, digest, lessons)
            changed.add(project)
            projects, sessions = projects + 1, sessions + len(numbers)
        reports.append(LearnerRun(learner.name, projects, sessions))
    return reports, changed


def _noted_projects(connection: ArchiveConnection, learner: Learner) -> list[tuple[str, list[int], str]]:
    """By project: the sessions that a learner has notes of, and a digest of these notes."""
    numbers: defaultdict[str, list[int]] = defaultdict(list)
    stamps: defaultdict[str, list[str]] = defaultdict(list)
    for name, session, stamp, ended in notes.load_note_stamps(connection, learner.name):
        for project in list_projects(learner, name):
            numbers[project].append(session)
            stamps[project].append(f"{session} {stamp} {ended}\n")
    return [
        (project, numbers[project], blake2b("".join(stamps[project]).encode(), digest_size=12).hexdigest())
        for project in sorted(numbers)
    ]


def _load_notes(connection: ArchiveConnection, learner: Learner, sessions: Iterable[int]) -> list[SessionNotes[object]]:
    decoder = msgspec.msgpack.Decoder(learner.notes_type)
    return [
        SessionNotes(
            page.session,
            page.agent,
            page.project,
            page.started_at,
            page.ended_at,
            decoder.decode(page.data),
        )
        for page in notes.load_notes(connection, learner.name, sessions)
    ]


def weigh_lessons(connection: ArchiveConnection, projects: Iterable[str], effects: Sequence[ExposureEffect]) -> None:
    """Weigh the lessons of all learners against each other, in each of these projects."""
    wanted = set(projects)
    noted: defaultdict[str, dict[str, list[SessionNotes[object]]]] = defaultdict(dict)
    for learner in LEARNERS:
        if wanted and learner.revise is not None and learner.notes_type is not None:
            for project, numbers, _ in _noted_projects(connection, learner):
                if project in wanted:
                    noted[project][learner.name] = _load_notes(connection, learner, numbers)
    for project in sorted(wanted):
        # Before the lessons are read: lessons that come in meanwhile are weighed the next time.
        state = stored.conclusion_digests(connection).get(project)
        revised = weigh(stored.load_conclusions(connection, project), noted[project], effects)
        with connection.transaction():
            stored.store_lessons(connection, project, revised)
            stored.store_weighed_digest(connection, project, state)


def drop_unused_projects(connection: ArchiveConnection) -> set[str]:
    """Delete the lessons of projects that no session belongs to any more; the names of these projects."""
    known = {*load_project_names(connection).values(), ALL_PROJECTS}
    dropped = {project for project, _ in stored.load_conclusion_versions(connection)} - known
    if dropped:
        with connection.transaction():
            stored.drop_project_lessons(connection, dropped)
    return dropped


# Learning from chosen sessions only.
class SelectedLessons(NamedTuple):
    """The lessons of chosen sessions alone."""

    project: str
    """The project that most of the sessions belong to."""
    lessons: list[Lesson]
    """Also those with little support, which are `weak`."""
    profiles: dict[str, SessionProfile]


def learn_from(folder: str, keys: Iterable[str]) -> SelectedLessons:
    """Learn from exactly these sessions, without storing anything."""
    profiles: dict[str, SessionProfile] = {}
    pages: dict[str, list[SessionNotes[object]]] = {learner.name: [] for learner in LEARNERS}
    project_counts: Counter[str] = Counter()
    with closing(connect(folder)) as connection:
        assign_archive(connection)
        names = load_session_projects(connection)
        for key in keys:
            session = load_session(connection, key)
            assessed = assess(session)
            seen = prepare_for_learners(session, assessed.records, find_place(session).root)
            profiles[key] = assessed.profile
            name = names.get(key, "")
            project_counts[name] += 1
            for learner in LEARNERS:
                taken = learner.take_notes(seen) if learner.take_notes is not None else None
                if taken is not None:
                    heading = (key, session.agent, name, session.started_at, session.ended_at)
                    pages[learner.name].append(SessionNotes(*heading, taken))
    project = min(project_counts, key=lambda name: (-project_counts[name], name)) if project_counts else ""
    lessons: list[Lesson] = []
    for learner in LEARNERS:
        pages[learner.name] = sort_notes(pages[learner.name])
        if pages[learner.name]:
            lessons += conclude(learner, project or "here", pages[learner.name])
    return SelectedLessons(project, revise_lessons(lessons, [], pages), profiles)
