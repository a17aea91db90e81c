"""Runs tasks with an agent's own program, each in a folder of its own, and notes what came of them.

Knows nothing of templates. Every prompt begins with Preheat's mark: ordinary learning and measuring leave these sessions out.
"""

import os
import shutil
from collections.abc import Callable, Mapping
from typing import NamedTuple

import msgspec

from preheat.agents import places_of
from preheat.agents.headless import Asked, Headless
from preheat.errors import UserError
from preheat.model.session import PREHEAT_RUN
from preheat.training.process import Ended, run, run_shell
from preheat.training.state import Ran, State, Status
from preheat.training.suite import Task

_NOTE = 400


class Plan(NamedTuple):
    """How the tasks are run."""

    agent: str
    headless: Headless
    program: str
    environment: Mapping[str, str]
    model: str = ""
    options: tuple[str, ...] = ()
    timeout: float = 600.0
    """Seconds for the agent on one task, where the task says nothing; preparing and verifying have as long."""
    project: str = ""
    """A folder of which each task gets a copy; empty: an empty folder."""
    keep_work: bool = False


def mark(run_name: str, task: Task) -> str:
    """The first line of a task's prompt."""
    return f'{PREHEAT_RUN} training="{run_name}" task="{task.id}">'


def run_tasks(tasks: tuple[Task, ...], plan: Plan, state: State, done: Callable[[State, Ran], None]) -> State:
    """Run the tasks that the state does not know to have ended well; `done` is told after each."""
    for task in tasks:
        before = state.ran.get(task.id)
        if before is not None and before.good and before.digest == task.digest:
            continue
        ran = run_task(task, plan, state)
        state = msgspec.structs.replace(state, ran={**state.ran, task.id: ran})
        done(state, ran)
    return state


def run_task(task: Task, plan: Plan, state: State) -> Ran:
    """One task, from its folder to the verdict."""
    folder = _folder(task, plan, state)
    known = _stamps(plan)
    status, ended = _status(task, plan, state, folder)
    changed = sorted(path for path, stamp in _stamps(plan).items() if known.get(path) != stamp)
    if not plan.keep_work:
        shutil.rmtree(os.path.dirname(folder), ignore_errors=True)
    note = " ".join(ended.said.split())[-_NOTE:] if status not in ("verified", "done") else ""
    return Ran(
        task=task.id, digest=task.digest, status=status, seconds=round(ended.seconds, 2), folder=folder, files=changed,
        note=note,
    )  # fmt: skip


def _status(task: Task, plan: Plan, state: State, folder: str) -> tuple[Status, Ended]:
    limit = task.timeout or plan.timeout
    if task.setup:
        prepared = run_shell(task.setup, folder, plan.environment, limit)
        if prepared.code != 0:
            return "not set up", prepared
    prompt = f"{mark(state.run, task)}\n\n{task.prompt}"
    command = [plan.program, *plan.headless.arguments(Asked(prompt, plan.model, plan.options))]
    # Hooks of ours that are installed leave such a run alone.
    environment = {**plan.environment, **plan.headless.environment, "PREHEAT_RUN": "1"}
    ended = run(command, folder, environment, limit, prompt if plan.headless.reads_input else None)
    if ended.code is None:
        return "timed out", ended
    if ended.code != 0:
        return "failed", ended
    if not task.verify:
        return "done", ended
    verified = run_shell(task.verify, folder, plan.environment, limit)
    return ("verified", ended) if verified.code == 0 else ("not verified", verified._replace(seconds=ended.seconds))


def _folder(task: Task, plan: Plan, state: State) -> str:
    """A folder of its own for a task. Its last part is the project's name: so it is called in what is learned."""
    own = os.path.join(state.base, task.id)
    shutil.rmtree(own, ignore_errors=True)
    folder = os.path.join(own, os.path.basename(plan.project) or "work")
    try:
        if plan.project:
            shutil.copytree(plan.project, folder, symlinks=True)
        else:
            os.makedirs(folder)
    except (OSError, shutil.Error) as error:
        shutil.rmtree(own, ignore_errors=True)
        raise UserError(f"`{plan.project or folder}` cannot be copied for task `{task.id}`: {_first(error)}") from error
    return folder


def _first(error: Exception) -> str:
    """Why, in a few words: copying a folder gathers all its faults in one list."""
    faults = error.args[0] if error.args else ""
    if isinstance(faults, list) and faults:
        source, _, why = faults[0]
        return f"`{source}`: {why}"
    return str(error)


def _stamps(plan: Plan) -> dict[str, str]:
    """The agent's files and databases with their stamps."""
    places = places_of(plan.agent)
    return {found.path: found.stamp for root in places.roots(plan.environment) for found in places.discover(root)}
