"""Trains a template: runs tasks with an agent's program, reads and compresses the sessions, learns from them, stores a version.

Knows nothing of how a task is run, nor of how it is shown.
"""

import os
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from functools import partial
from hashlib import sha256
from typing import NamedTuple
from uuid import uuid4

from preheat.agents import places_of
from preheat.agents.headless import find_program, headless_agents, headless_of, session_files
from preheat.amounts import format_count
from preheat.app.analysis.assessment import assess
from preheat.app.analysis.one_pass import prepare_for_learners
from preheat.app.learning import learn_from
from preheat.app.sessions.archive import load_session, sync
from preheat.app.sessions.transcripts import compress
from preheat.app.templates.library import Templates
from preheat.archive.connect import connect
from preheat.archive.database import ArchiveConnection
from preheat.archive.queries import list_sessions
from preheat.compress import Compressed, KeptCount, MarkerKind
from preheat.errors import UserError
from preheat.lab.suite import Suite, Task, first_tasks, read_suite
from preheat.lab.training import (
    TaskResult,
    TrainedSession,
    TrainingPlan,
    TrainingState,
    drop_state,
    example_lessons,
    load_state,
    run_tasks,
    save_state,
    state_path,
    surviving_lessons,
    training_mark,
)
from preheat.model.listing import SessionFilter
from preheat.model.progress import SILENT, Progress
from preheat.model.session import UserMessage
from preheat.model.template import Template
from preheat.safe_text.reasons import junk_reason
from preheat.templates.build import Request, build
from preheat.templates.names import check_name

_SEARCHED_SESSIONS = 200
"""The number of newest sessions that are searched for those of a task, if the agent does not record its folder."""


class TrainingResult(NamedTuple):
    """The result of a training."""

    digest: str
    template: Template
    runs: list[TaskResult]
    """One for each task, in order."""
    sessions: dict[str, list[str]]
    """By task, the keys of its sessions in the archive."""
    before: int
    """Tokens of these sessions before compressing, and after."""
    after: int
    markers: dict[MarkerKind, KeptCount]
    left_out: dict[str, int]


class Training:
    """Trains templates on tasks that an agent's program does."""

    def __init__(self, folder: str, environment: Mapping[str, str] | None = None) -> None:
        """`environment`: the variables of the programs; this process's own unless given."""
        self._folder = folder
        self._environment = dict(os.environ if environment is None else environment)

    def agents(self) -> tuple[str, ...]:
        """The agents whose programs run without a terminal."""
        return headless_agents()

    def read_suite(self, path: str, limit: int | None = None) -> Suite:
        """The tasks in a file, or the first `limit` of them."""
        return first_tasks(read_suite(path), limit)

    def train(
        self,
        name: str,
        suite: Suite,
        agent: str,
        *,
        program: str = "",
        model: str = "",
        options: tuple[str, ...] = (),
        project: str = "",
        strategy: str = "markers",
        timeout: float = 600.0,
        keep_work: bool = False,
        progress: Progress = SILENT,
    ) -> TrainingResult:
        """Run a suite with an agent's program, learn from the tasks that ended well, and store the lessons as a template version.
        Raises UserError if no task ended well."""
        check_name(name)
        headless = headless_of(agent)
        if headless is None:
            raise UserError(
                f"Preheat does not know how to start {places_of(agent).title} without a terminal; it knows"
                f" {', '.join(headless_agents())}"
            )
        plan = TrainingPlan(
            agent, headless, find_program(headless, program), self._environment, model, options, timeout,
            _project(project), keep_work,
        )  # fmt: skip
        return train(self._folder, name, suite, plan, strategy, progress)


def _project(wanted: str) -> str:
    if not wanted:
        return ""
    folder = os.path.realpath(os.path.expanduser(wanted))
    if not os.path.isdir(folder):
        raise UserError(f"`{wanted}` is no folder")
    return folder


def train(
    folder: str, name: str, suite: Suite, plan: TrainingPlan, strategy: str = "markers", progress: Progress = SILENT
) -> TrainingResult:
    """Train a template by a plan, which says how the agent's program is run."""
    check_name(name)
    path = state_path(folder, name)
    plan = plan._replace(records=f"{path.removesuffix('.json')}.records")
    setting = _settings_digest(suite, plan)
    before = load_state(path, setting)
    state = before or TrainingState(
        setting, uuid4().hex[:12], os.path.realpath(tempfile.mkdtemp(prefix="preheat-train-"))
    )
    good = [task for task in suite.tasks if task.id in state.results and state.results[task.id].is_good]
    progress.begin("Training", len(suite.tasks))
    if good:
        progress.advance(len(good), "done already")

    def save_progress(now: TrainingState, result: TaskResult) -> None:
        save_state(path, now)
        progress.advance(1, f"{result.task}: {result.status}, {result.seconds:.0f} s")

    try:
        state = run_tasks(suite.tasks, plan, state, partial(session_files, plan.agent), save_progress)
    finally:
        progress.end()
        if not plan.keep_work:
            shutil.rmtree(state.base, ignore_errors=True)
    outcome = _build_template(folder, name, suite, plan, strategy, state)
    drop_state(path)
    shutil.rmtree(plan.records, ignore_errors=True)
    return outcome


def _settings_digest(suite: Suite, plan: TrainingPlan) -> str:
    """A digest of everything that decides what the runs are."""
    parts = [plan.agent, plan.program, plan.model, *plan.options, plan.project, *(task.digest for task in suite.tasks)]
    return sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:16]


def _build_template(
    folder: str, name: str, suite: Suite, plan: TrainingPlan, strategy: str, state: TrainingState
) -> TrainingResult:
    runs = [state.results[task.id] for task in suite.tasks]
    good = [each for each in runs if each.is_good]
    if not good:
        first = runs[0]
        reason = f" ({first.note[-200:]})" if first.note else ""
        raise UserError(f"no task ended well: nothing was kept; `{first.task}`: {first.status}{reason}")
    sessions_found = _sessions_by_task(folder, suite, plan, state, good)
    keys = [key for listed in sessions_found.values() for key in listed]
    if not keys:
        raise UserError(
            f"the agent left no session of {format_count(len(good), 'task')} where Preheat looks: nothing was kept"
        )
    compressed = _compress_sessions(
        folder, {key: each.folder for each in good for key in sessions_found[each.task]}, strategy
    )
    trained = [each for each, _ in compressed]
    studied = learn_from(folder, keys)
    project = os.path.basename(plan.project)
    lessons = [*example_lessons(trained, project), *surviving_lessons(studied.lessons, trained, project)]
    request = Request(
        name=name,
        description=f"Trained on `{suite.name}`: {len(good)} of {format_count(len(runs), 'task')} ended well.",
        project=project,
        weak=True,
        skipped=dict(Counter(each.status for each in runs if not each.is_good)),
        filters=_filters(suite, plan, strategy),
        created_at=time.time(),
    )
    built = build(request, lessons, studied.profiles, junk_reason)
    if not built.template.lessons:
        raise UserError("nothing that the tasks did is worth keeping: nothing was kept; give tasks that take some work")
    note = f"{len(good)} of {format_count(len(runs), 'task')} of `{suite.name}`"
    digest = Templates(folder).store(built.template, "trained", note).digest
    results = [each for _, each in compressed]
    return TrainingResult(
        digest, built.template, runs, sessions_found, sum(each.before for each in results), sum(each.after for each in results),
        _markers(results), built.left_out,
    )  # fmt: skip


def _filters(suite: Suite, plan: TrainingPlan, strategy: str) -> dict[str, str]:
    settings = {"suite": suite.name, "agent": plan.agent, "model": plan.model, "strategy": strategy}
    return {name: value for name, value in settings.items() if value}


def _sessions_by_task(
    folder: str, suite: Suite, plan: TrainingPlan, state: TrainingState, good: list[TaskResult]
) -> dict[str, list[str]]:
    """Read the transcripts of the runs into the archive; by task, the keys of its sessions."""
    files = sorted({path for each in good for path in each.files if os.path.exists(path)})
    sync(folder, files=[(plan.agent, path) for path in files])
    tasks = {task.id: task for task in suite.tasks}
    with closing(connect(folder)) as connection:
        return {each.task: _task_sessions(connection, plan.agent, tasks[each.task], each, state) for each in good}


def _task_sessions(
    connection: ArchiveConnection, agent: str, task: Task, ran: TaskResult, state: TrainingState
) -> list[str]:
    """The sessions of a task: by its own folder, else by the mark in the prompt."""
    here = list_sessions(connection, SessionFilter(agent=agent, project=ran.folder))
    if here:
        return sorted(summary.key for summary in here)
    wanted = training_mark(state.run, task)
    return sorted(
        summary.key
        for summary in list_sessions(connection, SessionFilter(agent=agent), _SEARCHED_SESSIONS)
        if not summary.project and summary.starter == "preheat" and _contains(connection, summary.key, wanted)
    )


def _contains(connection: ArchiveConnection, key: str, wanted: str) -> bool:
    events = load_session(connection, key).events
    return any(isinstance(event, UserMessage) and wanted in event.text for event in events)


def _compress_sessions(
    folder: str, worked_in: dict[str, str], strategy: str
) -> list[tuple[TrainedSession, Compressed]]:
    """The sessions, given with their folders, compressed."""
    found = []
    with closing(connect(folder)) as connection:
        for key, root in worked_in.items():
            session = load_session(connection, key)
            seen = prepare_for_learners(session, assess(session).records, root)
            shorter = compress(session, strategy)
            calls = tuple((each.call, each.record) for each in seen.calls)
            trained = TrainedSession(seen.key, session, calls, seen.relative, shorter.session, shorter.calls)
            found.append((trained, shorter))
    return found


def _markers(compressed: list[Compressed]) -> dict[MarkerKind, KeptCount]:
    found: dict[MarkerKind, KeptCount] = {}
    for each in compressed:
        for sort, kept in each.markers.items():
            before = found.get(sort, KeptCount(0, 0))
            found[sort] = KeptCount(before.kept + kept.kept, before.total + kept.total)
    return found
