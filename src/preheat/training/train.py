"""Trains a template, from the first task to the version that is kept.

Puts the stages in their order as `app` does; what is shown of it is for others.
"""

import os
import shutil
import sqlite3
import tempfile
import time
from collections import Counter
from hashlib import sha256
from typing import NamedTuple
from uuid import uuid4

import msgspec

from preheat.app import stages as pipeline
from preheat.app.analysis import seen_by_learners
from preheat.app.assessment import assess
from preheat.app.context import keep_template
from preheat.archive.queries import sessions
from preheat.calls.clean import junk
from preheat.compress import Kept, Sort
from preheat.errors import UserError
from preheat.lessons.failures import plural
from preheat.model.lesson import Lesson, LessonKind, Scope
from preheat.model.listing import Filter
from preheat.model.session import UserMessage
from preheat.model.template import Template
from preheat.tasks.suite import Suite, Task
from preheat.templates.build import Request, build
from preheat.templates.names import check_name
from preheat.training.examples import Trained, examples
from preheat.training.run import Plan, mark, run_tasks
from preheat.training.state import Ran, State, drop, load, save, state_path

TRANSFERABLE: frozenset[LessonKind] = frozenset(["convention", "repair", "dead_end", "error", "sequence", "example"])
"""Kinds that mean something outside the folders of a training: files and half-done work of those are gone."""
_NEWEST = 200
"""Sessions that are looked through for a task's, where the agent does not record in which folder it worked."""


class Watcher:
    """Told how a training goes on; this one keeps silent."""

    def begin(self, tasks: int, done: int) -> None:
        """So many tasks, of which so many ended well in an earlier try."""

    def ran(self, ran: Ran) -> None:
        """One task is over."""

    def learning(self, sessions: int) -> None:
        """All are, and so many sessions are learned from."""


class Outcome(NamedTuple):
    """What came of a training."""

    digest: str
    template: Template
    ran: list[Ran]
    sessions: dict[str, list[str]]
    """By task, the keys of its sessions in the archive."""
    before: int
    """Tokens of those sessions, and what compressing left."""
    after: int
    markers: dict[Sort, Kept]
    left_out: dict[str, int]


def train(
    folder: str, name: str, suite: Suite, plan: Plan, strategy: str = "markers", watcher: Watcher | None = None
) -> Outcome:
    """Run a suite, learn from the tasks that ended well, and keep that as a template. Nothing is kept if none did."""
    watcher = watcher or Watcher()
    check_name(name)
    path = state_path(folder, name)
    plan = plan._replace(records=f"{path.removesuffix('.json')}.records")
    setting = _setting(suite, plan)
    before = load(path, setting)
    state = before or State(setting, uuid4().hex[:12], os.path.realpath(tempfile.mkdtemp(prefix="preheat-train-")))
    good = [task for task in suite.tasks if task.id in state.ran and state.ran[task.id].good]
    watcher.begin(len(suite.tasks), len(good))

    def done(now: State, ran: Ran) -> None:
        save(path, now)
        watcher.ran(ran)

    try:
        state = run_tasks(suite.tasks, plan, state, done)
    finally:
        if not plan.keep_work:
            shutil.rmtree(state.base, ignore_errors=True)
    outcome = _learned(folder, name, suite, plan, strategy, state, watcher)
    drop(path)
    shutil.rmtree(plan.records, ignore_errors=True)
    return outcome


def _setting(suite: Suite, plan: Plan) -> str:
    """Changes with whatever changes what the runs are."""
    parts = [plan.agent, plan.program, plan.model, *plan.options, plan.project, *(task.digest for task in suite.tasks)]
    return sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:16]


def _learned(
    folder: str, name: str, suite: Suite, plan: Plan, strategy: str, state: State, watcher: Watcher
) -> Outcome:
    ran = [state.ran[task.id] for task in suite.tasks]
    good = [each for each in ran if each.good]
    if not good:
        first = ran[0]
        said = f" ({first.note[-200:]})" if first.note else ""
        raise UserError(f"no task ended well: nothing was kept; `{first.task}`: {first.status}{said}")
    found = _sessions(folder, suite, plan, state, good)
    keys = [key for listed in found.values() for key in listed]
    if not keys:
        raise UserError(
            f"the agent left no session of {plural(len(good), 'task')} where Preheat looks: nothing was kept"
        )
    watcher.learning(len(keys))
    trained = _compressed(folder, {key: each.folder for each in good for key in found[each.task]}, strategy)
    study = pipeline.study(folder, keys)
    project = os.path.basename(plan.project)
    lessons = [*examples(trained, project), *_survived(study.lessons, trained, project)]
    request = Request(
        name=name,
        description=f"Trained on `{suite.name}`: {len(good)} of {plural(len(ran), 'task')} ended well.",
        project=project,
        weak=True,
        skipped=dict(Counter(each.status for each in ran if not each.good)),
        filters=_filters(suite, plan, strategy),
        created_at=time.time(),
    )
    built = build(request, lessons, study.profiles, junk)
    if not built.template.lessons:
        raise UserError("nothing that the tasks did is worth keeping: nothing was kept; give tasks that take some work")
    note = f"{len(good)} of {plural(len(ran), 'task')} of `{suite.name}`"
    digest = keep_template(folder, built.template, "trained", note)
    tokens = [(each.compressed.before, each.compressed.after) for each in trained]
    return Outcome(
        digest, built.template, ran, found, sum(one for one, _ in tokens), sum(two for _, two in tokens),
        _markers(trained), built.left_out,
    )  # fmt: skip


def _filters(suite: Suite, plan: Plan, strategy: str) -> dict[str, str]:
    given = {"suite": suite.name, "agent": plan.agent, "model": plan.model, "strategy": strategy}
    return {name: value for name, value in given.items() if value}


def _sessions(folder: str, suite: Suite, plan: Plan, state: State, good: list[Ran]) -> dict[str, list[str]]:
    """Read what the runs wrote into the archive, and say which sessions are whose."""
    files = sorted({path for each in good for path in each.files if os.path.exists(path)})
    pipeline.sync(folder, files=[(plan.agent, path) for path in files])
    tasks = {task.id: task for task in suite.tasks}
    connection = pipeline.opened(folder)
    try:
        return {each.task: _keys(connection, plan.agent, tasks[each.task], each, state) for each in good}
    finally:
        connection.close()


def _keys(connection: sqlite3.Connection, agent: str, task: Task, ran: Ran, state: State) -> list[str]:
    """The sessions of a task: by its folder, which no other has; else by the mark in the prompt."""
    here = sessions(connection, Filter(agent=agent, project=ran.folder))
    if here:
        return sorted(summary.key for summary in here)
    wanted = mark(state.run, task)
    return sorted(
        summary.key
        for summary in sessions(connection, Filter(agent=agent), _NEWEST)
        if not summary.project and summary.starter == "preheat" and _says(connection, summary.key, wanted)
    )


def _says(connection: sqlite3.Connection, key: str, wanted: str) -> bool:
    events = pipeline.load(connection, key).events
    return any(isinstance(event, UserMessage) and wanted in event.text for event in events)


def _compressed(folder: str, worked_in: dict[str, str], strategy: str) -> list[Trained]:
    """The sessions (given with where they worked) as they are kept."""
    connection = pipeline.opened(folder)
    try:
        found = []
        for key, root in worked_in.items():
            session = pipeline.load(connection, key)
            seen = seen_by_learners(session, assess(session).records, root)
            found.append(Trained(seen, pipeline.compress(session, strategy)))
        return found
    finally:
        connection.close()


def _survived(lessons: list[Lesson], trained: list[Trained], project: str) -> list[Lesson]:
    """The lessons that mean something elsewhere and rest on at least one call that compressing left."""
    left = {(each.seen.key, seq) for each in trained for seq in each.compressed.calls}
    return [
        msgspec.structs.replace(lesson, scope=Scope(lesson.scope.agent, project, lesson.scope.tool))
        for lesson in lessons
        if lesson.kind in TRANSFERABLE
        and any(each.seq is None or (each.session, each.seq) in left for each in lesson.evidence)
    ]


def _markers(trained: list[Trained]) -> dict[Sort, Kept]:
    found: dict[Sort, Kept] = {}
    for each in trained:
        for sort, kept in each.compressed.markers.items():
            before = found.get(sort, Kept(0, 0))
            found[sort] = Kept(before.kept + kept.kept, before.total + kept.total)
    return found
