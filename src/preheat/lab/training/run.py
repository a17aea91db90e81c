"""Runs tasks with an agent's own program, each in a folder of its own, and notes what came of them.

Knows nothing of templates. Every prompt begins with Preheat's mark: ordinary learning and measuring leave these sessions out.
"""

import os
import shutil
from collections.abc import Callable, Mapping
from typing import NamedTuple

import msgspec

from preheat.lab.tasks.folders import make_folder
from preheat.lab.tasks.process import ProcessResult, run_program, run_shell
from preheat.lab.tasks.suite import Task
from preheat.lab.tasks.transcripts import changed_files
from preheat.lab.training.state import GOOD_STATUSES, TaskResult, TaskStatus, TrainingState
from preheat.model.headless import FileStamps, HeadlessProgram, HeadlessRequest
from preheat.model.session import PREHEAT_RUN


class TrainingPlan(NamedTuple):
    """How the tasks are run."""

    agent: str
    headless: HeadlessProgram
    program: str
    environment: Mapping[str, str]
    model: str = ""
    options: tuple[str, ...] = ()
    timeout: float = 600.0
    """Seconds for the agent on one task, where the task says nothing; preparing and verifying have as long."""
    project: str = ""
    """A folder of which each task gets a copy; empty: an empty folder."""
    keep_work: bool = False
    records: str = ""
    """The folder for sessions of programs that have no place of their own for them."""


def training_mark(run_name: str, task: Task) -> str:
    """The first line of a task's prompt."""
    return f'{PREHEAT_RUN} training="{run_name}" task="{task.id}">'


def run_tasks(
    tasks: tuple[Task, ...],
    plan: TrainingPlan,
    state: TrainingState,
    files: FileStamps,
    done: Callable[[TrainingState, TaskResult], None],
) -> TrainingState:
    """Run the tasks that have not ended well yet; `done` is called after each."""
    for task in tasks:
        before = state.results.get(task.id)
        if before is not None and before.is_good and before.digest == task.digest:
            continue
        ran = run_task(task, plan, state, files)
        state = msgspec.structs.replace(state, results={**state.results, task.id: ran})
        done(state, ran)
    return state


def run_task(task: Task, plan: TrainingPlan, state: TrainingState, files: FileStamps) -> TaskResult:
    """One task, from its folder to the verdict."""
    folder = make_folder(os.path.join(state.base, task.id), plan.project, task.id)
    before = files(plan.environment)
    record = plan.headless.record_path(plan.records, f"{state.run}-{task.id}")
    status, ended, seconds = _status(task, plan, state, folder, record)
    changed = changed_files(before, files(plan.environment), record)
    if not plan.keep_work:
        shutil.rmtree(os.path.dirname(folder), ignore_errors=True)
    return TaskResult(
        task=task.id, digest=task.digest, status=status, seconds=round(seconds, 2), folder=folder, files=changed,
        note="" if status in GOOD_STATUSES else ended.note,
    )  # fmt: skip


def _status(
    task: Task, plan: TrainingPlan, state: TrainingState, folder: str, record: str
) -> tuple[TaskStatus, ProcessResult, float]:
    """The status of a task, the process that decided it, and the seconds of the agent (or of the set-up that failed)."""
    limit = task.timeout or plan.timeout
    if task.setup:
        prepared = run_shell(task.setup, folder, plan.environment, limit)
        if prepared.code != 0:
            return "not set up", prepared, prepared.seconds
    prompt = f"{training_mark(state.run, task)}\n\n{task.prompt}"
    command = [plan.program, *plan.headless.arguments(HeadlessRequest(prompt, plan.model, plan.options, record=record))]
    # Preheat's installed hooks do nothing in such a run.
    environment = {**plan.environment, **plan.headless.environment, "PREHEAT_RUN": "1"}
    ended = run_program(command, folder, environment, limit, prompt if plan.headless.reads_input else None)
    if ended.code is None:
        return "timed out", ended, ended.seconds
    if ended.code != 0:
        return "failed", ended, ended.seconds
    if not task.verify:
        return "done", ended, ended.seconds
    verified = run_shell(task.verify, folder, plan.environment, limit)
    status: TaskStatus = (
        "verified" if verified.code == 0 else "verify timed out" if verified.code is None else "not verified"
    )
    return status, verified, ended.seconds
