"""Training: runs tasks with an agent's own program, each in a folder of its own, and turns what is of use elsewhere into lessons.

Knows no archive and no template. Every prompt begins with Preheat's mark: learning and profiles leave these sessions out. A
training that was interrupted goes on where it stopped.
"""

import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec

from preheat.calls.shell import command_form
from preheat.commands import CHECKS, command_text, understand
from preheat.files import read_file, write_atomically
from preheat.lab.programs import ProcessResult, changed_files, make_folder, run_program, run_shell
from preheat.lab.suite import Task
from preheat.model.headless import FileStamps, HeadlessProgram, HeadlessRequest
from preheat.model.lesson import Evidence, Example, Lesson, LessonKind, Scope, Support, lesson_id
from preheat.model.profile import CallRecord
from preheat.model.session import PREHEAT_RUN, Session, ToolCall, pair_calls_with_results
from preheat.safe_text.cleanup import ESCAPES, one_line
from preheat.safe_text.reasons import danger_reason, hidden_reason, junk_reason

TaskStatus: TypeAlias = Literal[
    "verified", "done", "not verified", "verify timed out", "failed", "timed out", "not set up"
]  # fmt: skip
"""`done`: the agent ended well and nothing was there to verify by. `failed`: it did not end well."""
GOOD_STATUSES: frozenset[TaskStatus] = frozenset(["verified", "done"])


class TaskResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one task."""

    task: str
    digest: str
    status: TaskStatus
    seconds: float
    folder: str
    """Where it ran; gone unless the person wanted to keep it."""
    files: list[str] = []
    """The agent's own files that the run changed."""
    note: str = ""
    """The end of what went wrong."""

    @property
    def is_good(self) -> bool:
        return self.status in GOOD_STATUSES


class TrainingState(msgspec.Struct, frozen=True, rename={"results": "ran"}):
    """A training in progress. Only a training with the same setting goes on with it."""

    setting: str
    run: str
    """The name of this training; every prompt of it carries it."""
    base: str
    """The folder below which the tasks run."""
    results: dict[str, TaskResult] = {}


def state_path(folder: str, name: str) -> str:
    return os.path.join(folder, "training", f"{name}.json")


def load_state(path: str, setting: str) -> TrainingState | None:
    """The state of an earlier try with the same setting; None where there is none that can be used."""
    try:
        found = msgspec.json.decode(read_file(path), type=TrainingState)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return found if found.setting == setting else None


def save_state(path: str, state: TrainingState) -> None:
    write_atomically(path, msgspec.json.encode(state), make_folders=True)


def drop_state(path: str) -> None:
    if os.path.exists(path):
        os.unlink(path)


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


# Lessons of the calls that compressing left.
TRANSFERABLE: frozenset[LessonKind] = frozenset(["convention", "repair", "dead_end", "error", "sequence", "example"])
"""Kinds that mean something outside the folders of a training: files and half-done work of those are gone."""
RESULT_LENGTH = 800
"""Characters of a result, of which the strategy may leave fewer."""
_ARGUMENTS = 800
_HALF_LIFE = 90.0
_LOOKING = frozenset(["read", "list", "search"])
_MENDS, _CHECKS, _OTHER = 0.7, 0.6, 0.4
"""What an example is worth by itself: one that puts a mistake right, one that says how the work is checked, any other."""
_ESCAPES = re.compile(ESCAPES.pattern + r"|\r(?=\n)")


class TrainedSession(NamedTuple):
    """One session of a training, and what compressing left of it."""

    key: str
    session: Session
    calls: tuple[tuple[ToolCall, CallRecord], ...]
    """Its calls that are work, with what came of each."""
    relative: Callable[[str], str]
    """Makes the paths in a text begin at the folder of the task."""
    left: Session
    kept: tuple[int, ...]
    """Places (`CallRecord.seq`) of the calls that are left."""


def surviving_lessons(lessons: Iterable[Lesson], trained: Sequence[TrainedSession], project: str) -> list[Lesson]:
    """The lessons that mean something elsewhere and rest on at least one call that compressing left."""
    surviving = {(each.key, seq) for each in trained for seq in each.kept}
    return [
        msgspec.structs.replace(lesson, scope=Scope(lesson.scope.agent, project, lesson.scope.tool))
        for lesson in lessons
        if lesson.kind in TRANSFERABLE
        and any(each.seq is None or (each.session, each.seq) in surviving for each in lesson.evidence)
    ]


def example_lessons(sessions: Sequence[TrainedSession], project: str) -> list[Lesson]:
    """The examples of all sessions; calls that are the same in several of them become one."""
    found: dict[str, Lesson] = {}
    for session in sorted(sessions, key=lambda each: (each.session.started_at or 0.0, each.key)):
        for lesson in _examples_of(session, project):
            before = found.get(lesson.id)
            found[lesson.id] = lesson if before is None else _merge(before, lesson)
    return sorted(found.values(), key=lambda lesson: (-lesson.score, lesson.id))


def _examples_of(trained: TrainedSession, project: str) -> Iterator[Lesson]:
    remaining = {(call.line, call.call_id): (call, result) for call, result in pair_calls_with_results(trained.left)}
    kept = set(trained.kept)
    mending = {
        record.seq + record.recovered_in
        for _, record in trained.calls
        if record.recovered_in and record.cause != "finding" and record.seq in kept
    }
    for made, record in trained.calls:
        if record.seq not in kept or record.status not in ("ok", "empty") or made.kind in _LOOKING:
            continue
        call, result = remaining[made.line, made.call_id]
        arguments = _arguments(trained, call.input) if call.input == made.input else {}
        shown = _result(trained, result.text) if result is not None else ""
        purpose = understand(command_text(call.input)).purpose if call.kind == "shell" else ""
        if arguments and shown and purpose not in _LOOKING:
            example = Example(call.tool, arguments, shown, call.kind, trained.session.agent)
            yield _lesson(trained, made, record.seq, example, purpose, project, record.seq in mending)


def _arguments(trained: TrainedSession, arguments: dict[str, Any]) -> dict[str, Any]:
    """Arguments whose paths begin at the project; empty where they are unfit for another session."""
    text = trained.relative(msgspec.json.encode(arguments).decode())
    if len(text) > _ARGUMENTS or junk_reason(text) or hidden_reason(text) or danger_reason(text):
        return {}
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except msgspec.MsgspecError:  # a path was taken off where it was no path
        return {}


def _result(trained: TrainedSession, text: str) -> str:
    """A result as it may be shown: empty where it is, or where it reads like an instruction."""
    shown = _ESCAPES.sub("", trained.relative(text)).strip()
    return "" if len(shown) > 2 * RESULT_LENGTH or hidden_reason(shown.replace("\n", " ")) else shown[:RESULT_LENGTH]


def _lesson(
    trained: TrainedSession, made: ToolCall, seq: int, example: Example, purpose: str, project: str, mends: bool
) -> Lesson:
    shell = command_text(example.arguments) if example.kind == "shell" else ""
    form = command_form(shell) if shell else ""
    scope = Scope(trained.session.agent, project, example.tool)
    same = msgspec.json.encode(example.arguments, order="sorted").decode()
    shown = f"`{one_line(shell)}`" if shell else f"`{example.tool}` with `{one_line(same)}`"
    return Lesson(
        id=lesson_id("example", scope, same),
        kind="example",
        scope=scope,
        topic=purpose or example.kind,
        text=f"{shown} worked in training{', where a call before it had failed' if mends else ''}.",
        use=shell,
        forms=(form or example.tool,),
        example=example,
        support=Support(1, 1),
        first_seen=made.at,
        last_seen=made.at,
        half_life=_HALF_LIFE,
        evidence=(Evidence(trained.key, seq, made.at, text=one_line(shell or same)),),
        score=_MENDS if mends else _CHECKS if purpose in CHECKS else _OTHER,
    )


def _merge(one: Lesson, other: Lesson) -> Lesson:
    """The same call twice: the first stands, both count."""
    evidence = (*one.evidence, *other.evidence)
    return msgspec.structs.replace(
        one,
        support=Support(len(evidence), len({each.session for each in evidence})),
        last_seen=max((at for at in (one.last_seen, other.last_seen) if at is not None), default=None),
        evidence=evidence,
        score=max(one.score, other.score),
    )
