"""Runs the cells of a lab, each in a home and a folder of its own, and stores the result of each before the next begins.

Knows nothing of how contexts are made or what the results show.
"""

import contextlib
import os
import re
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeGuard

import msgspec

from preheat.errors import UserError
from preheat.files import make_private_folder, read_text, write_atomically
from preheat.lab.chat import DEFAULT_TURNS, Chat, run_chat
from preheat.lab.plan import Cell, LabPlan, plan_runs, run_prompt
from preheat.lab.programs import ProcessResult, changed_files, make_folder, one_line_end, run_program, run_shell
from preheat.lab.state import Ending, Lab, RunInProgress, RunResult, Status
from preheat.lab.suite import Task
from preheat.model.headless import Endpoint, FileStamps, HeadlessProgram, HeadlessRequest
from preheat.model.profile import SessionProfile
from preheat.model.progress import SILENT, Progress
from preheat.model.session import AssistantMessage, Event, Other, Session, ToolCall, UserMessage

_CONTEXT = re.compile(r'<preheat-context id=\\?"([0-9a-f]{12})\\?">')


class Measures(NamedTuple):
    """What the sessions of one run show."""

    sessions: tuple[str, ...] = ()
    tokens: int = 0
    calls: int = 0
    mistakes: int = 0
    errors: int = 0
    answers: int = 0
    turns: int = 0
    shown: tuple[str, ...] = ()
    """Ids of contexts that stand before the model."""
    problem: str = ""


def measure_run(found: Sequence[tuple[str, Session, SessionProfile]]) -> Measures:
    """The sum over the sessions of a run, each by its key in the archive: what an agent delegates belongs to it."""
    keys = [key for key, _, _ in found]
    sessions = [session for _, session, _ in found]
    profiles = [profile for _, _, profile in found]
    return Measures(
        sessions=tuple(keys),
        tokens=sum(profile.tokens for profile in profiles),
        calls=sum(profile.errors.total for profile in profiles),
        mistakes=sum(profile.mistakes.count for profile in profiles),
        errors=sum(profile.errors.count for profile in profiles),
        answers=sum(_is_answer(event) for session in sessions for event in session.events),
        turns=max((_turns(session) for session in sessions), default=0),
        shown=tuple(sorted({found for session in sessions for found in _shown_texts(session.events)})),
        problem="" if sessions else "the transcript has no session in it",
    )


def _is_answer(event: Event) -> TypeGuard[ToolCall | AssistantMessage]:
    return isinstance(event, ToolCall) or (isinstance(event, AssistantMessage) and bool(event.text.strip()))


def _turns(session: Session) -> int:
    return len({event.response or event.line for event in session.events if _is_answer(event)})


def _shown_texts(events: Iterable[Event]) -> Iterator[str]:
    """In prompts, and in what the program itself put before the model; what a tool printed is no delivery."""
    for event in events:
        if isinstance(event, UserMessage):
            yield from _CONTEXT.findall(event.text)
        elif isinstance(event, Other):
            yield from _CONTEXT.findall(msgspec.json.encode(event.raw).decode("utf-8", "replace"))


_SEARCHED_BYTES = 100_000
"""The bytes at the end of a program's output that are searched for the message that its turns are used up."""
_MOST_SILENT = 3
"""The number of runs in a row without an answer of the model after which a lab stops."""
_KEPT_VARIABLES = (
    "PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "SHELL", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy",
    "no_proxy", "SYSTEMROOT", "PATHEXT", "COMSPEC",
)  # fmt: skip
"""The variables that a program needs to run and to reach an endpoint; none says who the person is."""


class Bench(NamedTuple):
    """What a lab needs of this machine."""

    environment: Mapping[str, str]
    take_in: Callable[[Sequence[str]], Measures]
    """Reads what a run wrote into the archive, and measures it."""
    headless: HeadlessProgram | None = None
    """None for our own loop."""
    program: str = ""
    files: FileStamps = lambda environment: {}
    """The files of the agent that is run."""
    key: str = ""
    """The variable that holds the endpoint's key."""
    keep_in: str = ""
    """The folder in which the runs' folders stay; empty: they are thrown away."""


def run_lab(lab: Lab, plan: LabPlan, bench: Bench, progress: Progress = SILENT) -> list[RunResult]:
    """Run the cells that have no result yet. Raises UserError if the model does not answer."""
    end_leftover(lab)
    known = {each.cell: each for each in lab.results()}
    cells = plan_runs(plan)
    finished = sum(cell in known for cell in cells)
    passed: Counter[str] = Counter()
    base = bench.keep_in or os.path.realpath(tempfile.mkdtemp(prefix="preheat-lab-"))
    silent: list[RunResult] = []

    def keep(results: list[RunResult]) -> None:
        for each in results:
            lab.add_result(each)
            known[each.cell] = each
            passed[each.arm] += each.status == "passed"
            progress.advance(1, _progress_note(each, passed))

    progress.begin("Lab", len(cells))
    try:
        if finished:
            progress.advance(finished, "over already")
        for cell in (cell for cell in cells if cell not in known):
            tried = run_cell(lab, plan, cell, bench, base)
            silent.append(tried)
            if tried.ending != "no answer":
                keep(silent)
                silent = []
            elif len(silent) >= _MOST_SILENT:  # not the arm's doing: these runs are done again
                raise UserError(
                    f"{plan.agent} got no answer of the model at `{plan.endpoint}` in {_MOST_SILENT} runs, one after the other"
                    f" ({tried.note[-200:] or 'nothing was said why'}); started again in the same way, the lab goes on from"
                    f" there; `preheat experiment lab report {plan.name}` shows what there is"
                )
        keep(silent)
    finally:
        progress.end()
        lab.store_running(None)
        if not bench.keep_in:
            shutil.rmtree(base, ignore_errors=True)
    return [known[cell] for cell in cells]


def _progress_note(tried: RunResult, passed: Mapping[str, int]) -> str:
    """The result of a run, and how many have passed in each arm."""
    ending = "" if tried.ending == "well" else f", {tried.ending}"
    counts = ", ".join(f"{arm} {number}" for arm, number in sorted(passed.items()))
    return f"{tried.cell.id}: {tried.status}{ending}, {tried.seconds:.0f} s (passed: {counts})"


def end_leftover(lab: Lab) -> None:
    """End the process that a killed lab left running, and delete its folders."""
    leftover = lab.running()
    if leftover is None:
        return
    if leftover.process and sys.platform != "win32":
        with contextlib.suppress(OSError):  # it has ended, or there is no `/proc`
            where = os.readlink(f"/proc/{leftover.process}/cwd")
            if where.startswith(leftover.base):  # process ids are reused
                os.killpg(leftover.process, signal.SIGKILL)
    if os.path.basename(leftover.base).startswith("preheat-lab-"):
        shutil.rmtree(leftover.base, ignore_errors=True)
    lab.store_running(None)


def run_cell(lab: Lab, plan: LabPlan, cell: Cell, bench: Bench, base: str) -> RunResult:
    """One run, from its folders to its numbers."""
    run_folder = os.path.join(base, "runs", cell.id.replace("=", ""))
    # The folder is the same for all arms of a task, one after the other: its name stands before the model.
    folder = make_folder(os.path.join(base, "work", cell.task), plan.project, cell.task)
    environment = _make_environment(bench, run_folder)
    lab.store_running(RunInProgress(base))
    at = time.time()
    try:
        task = plan.task(cell.task)
        limit = task.timeout or plan.timeout
        task_environment = {**bench.environment, "PREHEAT_RUN": "1"}
        if task.setup:
            prepared = run_shell(task.setup, folder, task_environment, limit)
            if prepared.code != 0:
                return _make_result(plan, cell, at, "not set up", note=prepared.note)
        agent_run = _run_agent(lab, plan, cell, bench, folder, environment, base)
        status, note = _verify(task, folder, task_environment, limit)
        measures = bench.take_in(agent_run.files)
        ending = _ending(plan, agent_run, measures)
        notes = "; ".join(part for part in (agent_run.note if ending != "well" else "", note, measures.problem) if part)
        return _make_result(
            plan,
            cell,
            at,
            status,
            ending=ending,
            seconds=round(agent_run.seconds, 3),
            tokens=measures.tokens,
            calls=measures.calls,
            mistakes=measures.mistakes,
            errors=measures.errors,
            answers=measures.answers,
            turns=measures.turns,
            sessions=measures.sessions,
            shown=measures.shown,
            note=notes,
        )
    finally:
        if bench.keep_in:  # the next arm of this task works under the same name
            with contextlib.suppress(OSError):  # the agent may have taken it away
                shutil.move(os.path.dirname(folder), os.path.join(run_folder, "work"))
        else:
            shutil.rmtree(os.path.dirname(folder), ignore_errors=True)
            shutil.rmtree(run_folder, ignore_errors=True)


def _make_result(plan: LabPlan, cell: Cell, at: float, status: Status, **more: object) -> RunResult:
    started = RunResult(
        task=cell.task, arm=cell.arm, repeat=cell.repeat, status=status, at=at, context=plan.context_of(cell).context
    )
    return msgspec.structs.replace(started, **more)


def _ending(plan: LabPlan, done: "_AgentRun", found: Measures) -> Ending:
    """How a run ended, by the program and its transcript."""
    if not found.answers:
        return "no answer"
    if done.ending not in ("well", "failed") or (done.ending == "failed" and not done.out_of_turns):
        return done.ending
    # The message alone is not enough: a task may print the same words.
    if plan.turns and found.turns >= plan.turns + (not done.out_of_turns):
        return "over its turns"
    return "over its tokens" if done.ending == "well" and plan.tokens and found.tokens > plan.tokens else done.ending


def _verify(task: Task, folder: str, environment: Mapping[str, str], limit: float) -> tuple[Status, str]:
    """Verify the task, however the agent ended."""
    if not task.verify:
        return "done", ""
    verified = run_shell(task.verify, folder, environment, limit)
    if verified.code == 0:
        return "passed", ""
    return "verify timed out" if verified.code is None else "not passed", verified.note


class _AgentRun(NamedTuple):
    """What the agent did."""

    ending: Ending
    seconds: float
    note: str
    files: list[str]
    out_of_turns: bool = False
    """The program says that the turns it was told are used up."""


def _run_agent(
    lab: Lab, plan: LabPlan, cell: Cell, bench: Bench, folder: str, bare_environment: Mapping[str, str], base: str
) -> _AgentRun:
    home, text = bare_environment["HOME"], run_prompt(plan, cell)
    limit = plan.task(cell.task).timeout or plan.timeout
    if bench.headless is None:
        record = os.path.join(home, f"{plan.run}-{cell.id}.json")
        key = bench.environment.get(bench.key, "") if bench.key else ""
        turns = plan.turns or DEFAULT_TURNS
        chat = Chat(plan.endpoint, plan.model, key, folder, bare_environment, limit, turns, plan.tokens)
        chatted = run_chat(chat, text, f"{plan.run}-{cell.id}", record)
        return _AgentRun(chatted.ending, chatted.seconds, one_line_end(chatted.note), [record])
    set_up = bench.headless.set_up
    if set_up is None:
        raise UserError(f"Preheat does not know how to give an endpoint to `{bench.headless.program}`")
    settled = set_up(Endpoint(plan.endpoint, plan.model, bench.key), home, bare_environment)
    for name, contents in settled.files.items():
        _write(os.path.join(home, name), contents)
    _give_as_file(plan, cell, bench.headless, folder)
    # Preheat's installed hooks do nothing in such a run.
    environment = {**bare_environment, **bench.headless.environment, **settled.environment, "PREHEAT_RUN": "1"}
    record = bench.headless.record_path(home, f"{plan.run}-{cell.id}")
    before = bench.files(environment)
    request = HeadlessRequest(text, settled.model, (*settled.options, *plan.options), record, plan.turns)
    command = [bench.program, *bench.headless.arguments(request)]
    read = text if bench.headless.reads_input else None
    ended = run_program(
        command,
        folder,
        environment,
        limit,
        read,
        lambda process: lab.store_running(RunInProgress(base, process)),
        _SEARCHED_BYTES,
    )
    files = changed_files(before, bench.files(environment), record)
    stopped = bool(bench.headless.out_of_turns) and bench.headless.out_of_turns in ended.output
    return _AgentRun(_program_ending(ended), ended.seconds, ended.note, files, stopped)


def _program_ending(ended: ProcessResult) -> Ending:
    return "timed out" if ended.code is None else "failed" if ended.code else "well"


def _give_as_file(plan: LabPlan, cell: Cell, headless: HeadlessProgram, folder: str) -> None:
    """Append the context to the project's own instruction file."""
    text = plan.texts.get(plan.context_of(cell).context, "")
    if plan.give != "file" or not text:
        return
    path = os.path.join(folder, headless.instructions_file)
    before = ""
    with contextlib.suppress(FileNotFoundError):
        before = read_text(path, errors="surrogateescape").rstrip() + "\n\n"
    write_atomically(path, f"{before}{text}\n".encode("utf-8", "surrogateescape"), like=path)


def _make_environment(bench: Bench, run_folder: str) -> dict[str, str]:
    """The environment of a run: an empty home, and only the variables in `_KEPT_VARIABLES`."""
    shutil.rmtree(run_folder, ignore_errors=True)
    home, scratch = os.path.join(run_folder, "home"), os.path.join(run_folder, "tmp")
    for path in (home, scratch):
        make_private_folder(path)
    kept = {name: bench.environment[name] for name in (*_KEPT_VARIABLES, bench.key) if name in bench.environment}
    return {
        **kept,
        "HOME": home,
        "USERPROFILE": home,
        "XDG_CONFIG_HOME": os.path.join(home, ".config"),
        "XDG_DATA_HOME": os.path.join(home, ".local", "share"),
        "XDG_CACHE_HOME": os.path.join(home, ".cache"),
        "TMPDIR": scratch,
        "TERM": "dumb",
        "NO_COLOR": "1",
    }


def _write(path: str, contents: str) -> None:
    write_atomically(path, contents.encode(), make_folders=True)
