"""Runs the cells of a lab, each in a home and a folder of its own, and notes what came of each before the next begins.

Knows nothing of what an arm gives or of what the numbers show.
"""

import contextlib
import os
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from preheat.errors import UserError
from preheat.files import write_whole
from preheat.lab.chat import TURNS, Chat, converse
from preheat.lab.measure import Measures
from preheat.lab.plan import Cell, LabPlan, order, prompt
from preheat.lab.state import Ending, Lab, Running, Status, Tried
from preheat.lab.tasks.folders import fresh
from preheat.lab.tasks.process import Ended, run, run_shell, short
from preheat.lab.tasks.suite import Task
from preheat.lab.tasks.transcripts import written
from preheat.model.headless import Asked, Endpoint, Files, Headless
from preheat.model.progress import SILENT, Progress

_PRINTED = 100_000
"""Bytes that are looked through for a program's word that its turns are used up: an answer may stand behind it."""
_SILENT = 3
"""Runs in a row without any answer of the model, after which nobody goes on asking."""
_KEPT = (
    "PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "SHELL", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy",
    "no_proxy", "SYSTEMROOT", "PATHEXT", "COMSPEC",
)  # fmt: skip
"""Of the person's environment: what a program needs to run and to reach an endpoint, and nothing that says who they are."""


class Bench(NamedTuple):
    """What a lab needs of this machine."""

    environment: Mapping[str, str]
    take_in: Callable[[Sequence[str]], Measures]
    """Reads what a run wrote into the archive, and measures it."""
    headless: Headless | None = None
    """None for our own loop."""
    program: str = ""
    files: Files = lambda environment: {}
    """The files of the agent that is run."""
    key: str = ""
    """The variable that holds the endpoint's key."""
    keep_in: str = ""
    """The folder in which the runs' folders stay; empty: they are thrown away."""


def run_lab(lab: Lab, plan: LabPlan, bench: Bench, progress: Progress = SILENT) -> list[Tried]:
    """Run what is not over yet. Raises UserError when the model has stopped answering."""
    end_leftover(lab)
    known = {each.cell: each for each in lab.tried()}
    cells = order(plan)
    over = sum(cell in known for cell in cells)
    passed: Counter[str] = Counter()
    base = bench.keep_in or os.path.realpath(tempfile.mkdtemp(prefix="preheat-lab-"))
    silent: list[Tried] = []

    def keep(some: list[Tried]) -> None:
        for each in some:
            lab.add(each)
            known[each.cell] = each
            passed[each.arm] += each.status == "passed"
            progress.advance(1, _note(each, passed))

    progress.begin("Lab", len(cells))
    try:
        if over:
            progress.advance(over, "over already")
        for cell in (cell for cell in cells if cell not in known):
            tried = run_cell(lab, plan, cell, bench, base)
            silent.append(tried)
            if tried.ending != "no answer":
                keep(silent)
                silent = []
            elif len(silent) >= _SILENT:  # not the arm's doing: these runs are done again
                raise UserError(
                    f"{plan.agent} got no answer of the model at `{plan.endpoint}` in {_SILENT} runs, one after the other"
                    f" ({tried.note[-200:] or 'nothing was said why'}); started again in the same way, the lab goes on from"
                    f" there; `preheat lab report {plan.name}` shows what there is"
                )
        keep(silent)
    finally:
        progress.end()
        lab.note_running(None)
        if not bench.keep_in:
            shutil.rmtree(base, ignore_errors=True)
    return [known[cell] for cell in cells]


def _note(tried: Tried, passed: Mapping[str, int]) -> str:
    """What came of a run, and how many passed in each arm by now."""
    ending = "" if tried.ending == "well" else f", {tried.ending}"
    counts = ", ".join(f"{arm} {number}" for arm, number in sorted(passed.items()))
    return f"{tried.cell.id}: {tried.status}{ending}, {tried.seconds:.0f} s (passed: {counts})"


def end_leftover(lab: Lab) -> None:
    """End what goes on working for a lab that was killed, and take its folders away."""
    left = lab.running()
    if left is None:
        return
    if left.process and sys.platform != "win32":
        with contextlib.suppress(OSError):  # gone already, or no `/proc` here
            where = os.readlink(f"/proc/{left.process}/cwd")
            if where.startswith(left.base):  # numbers of processes are used again
                os.killpg(left.process, signal.SIGKILL)
    if os.path.basename(left.base).startswith("preheat-lab-"):
        shutil.rmtree(left.base, ignore_errors=True)
    lab.note_running(None)


def run_cell(lab: Lab, plan: LabPlan, cell: Cell, bench: Bench, base: str) -> Tried:
    """One run, from its folders to its numbers."""
    own = os.path.join(base, "runs", cell.id.replace("=", ""))
    # The folder is the same for all arms of a task, one after the other: its name stands before the model.
    folder = fresh(os.path.join(base, "work", cell.task), plan.project, cell.task)
    surroundings = _surroundings(bench, own)
    lab.note_running(Running(base))
    at = time.time()
    try:
        task = plan.task(cell.task)
        limit = task.timeout or plan.timeout
        theirs = {**bench.environment, "PREHEAT_RUN": "1"}
        if task.setup:
            prepared = run_shell(task.setup, folder, theirs, limit)
            if prepared.code != 0:
                return _tried(plan, cell, at, "not set up", note=prepared.note)
        done = _asked(lab, plan, cell, bench, folder, surroundings, base)
        status, note = _verified(task, folder, theirs, limit)
        found = bench.take_in(done.files)
        ending = _ending(plan, done, found)
        said = "; ".join(part for part in (done.note if ending != "well" else "", note, found.problem) if part)
        return _tried(
            plan, cell, at, status, ending=ending, seconds=round(done.seconds, 3), tokens=found.tokens, calls=found.calls,
            mistakes=found.mistakes, errors=found.errors, answers=found.answers, turns=found.turns, sessions=found.sessions,
            shown=found.shown, note=said,
        )  # fmt: skip
    finally:
        if bench.keep_in:  # the next arm of this task works under the same name
            with contextlib.suppress(OSError):  # the agent may have taken it away
                shutil.move(os.path.dirname(folder), os.path.join(own, "work"))
        else:
            shutil.rmtree(os.path.dirname(folder), ignore_errors=True)
            shutil.rmtree(own, ignore_errors=True)


def _tried(plan: LabPlan, cell: Cell, at: float, status: Status, **more: object) -> Tried:
    started = Tried(
        task=cell.task, arm=cell.arm, repeat=cell.repeat, status=status, at=at, context=plan.given_to(cell).context
    )
    return msgspec.structs.replace(started, **more)


def _ending(plan: LabPlan, done: "_Done", found: Measures) -> Ending:
    """What the transcript adds to how the program ended."""
    if not found.answers:
        return "no answer"
    if done.ending not in ("well", "failed") or (done.ending == "failed" and not done.out_of_turns):
        return done.ending
    # Its word alone is not enough: what a task prints may have the same words in it.
    if plan.turns and found.turns >= plan.turns + (not done.out_of_turns):
        return "over its turns"
    return "over its tokens" if done.ending == "well" and plan.tokens and found.tokens > plan.tokens else done.ending


def _verified(task: Task, folder: str, environment: Mapping[str, str], limit: float) -> tuple[Status, str]:
    """Whatever became of the agent: what it has done by then counts."""
    if not task.verify:
        return "done", ""
    verified = run_shell(task.verify, folder, environment, limit)
    if verified.code == 0:
        return "passed", ""
    return "verify timed out" if verified.code is None else "not passed", verified.note


class _Done(NamedTuple):
    """What the agent did."""

    ending: Ending
    seconds: float
    note: str
    files: list[str]
    out_of_turns: bool = False
    """The program says that the turns it was told are used up."""


def _asked(
    lab: Lab, plan: LabPlan, cell: Cell, bench: Bench, folder: str, surroundings: Mapping[str, str], base: str
) -> _Done:
    home, text = surroundings["HOME"], prompt(plan, cell)
    limit = plan.task(cell.task).timeout or plan.timeout
    if bench.headless is None:
        record = os.path.join(home, f"{plan.run}-{cell.id}.json")
        key = bench.environment.get(bench.key, "") if bench.key else ""
        turns = plan.turns or TURNS
        chat = Chat(plan.endpoint, plan.model, key, folder, surroundings, limit, turns, plan.tokens)
        said = converse(chat, text, f"{plan.run}-{cell.id}", record)
        return _Done(said.ending, said.seconds, short(said.note), [record])
    settle = bench.headless.settle
    if settle is None:
        raise UserError(f"Preheat does not know how to give an endpoint to `{bench.headless.program}`")
    settled = settle(Endpoint(plan.endpoint, plan.model, bench.key), home, surroundings)
    for name, contents in settled.files.items():
        _write(os.path.join(home, name), contents)
    _give_as_file(plan, cell, bench.headless, folder)
    # Hooks of ours that are installed leave such a run alone.
    environment = {**surroundings, **bench.headless.environment, **settled.environment, "PREHEAT_RUN": "1"}
    record = bench.headless.record(home, f"{plan.run}-{cell.id}")
    before = bench.files(environment)
    asked = Asked(text, settled.model, (*settled.options, *plan.options), record, plan.turns)
    command = [bench.program, *bench.headless.arguments(asked)]
    read = text if bench.headless.reads_input else None
    ended = run(
        command, folder, environment, limit, read, lambda process: lab.note_running(Running(base, process)), _PRINTED
    )
    files = written(before, bench.files(environment), record)
    stopped = bool(bench.headless.out_of_turns) and bench.headless.out_of_turns in ended.said
    return _Done(_program_ending(ended), ended.seconds, ended.note, files, stopped)


def _program_ending(ended: Ended) -> Ending:
    return "timed out" if ended.code is None else "failed" if ended.code else "well"


def _give_as_file(plan: LabPlan, cell: Cell, headless: Headless, folder: str) -> None:
    """Behind what the project's own file says."""
    text = plan.texts.get(plan.given_to(cell).context, "")
    if plan.give != "file" or not text:
        return
    path = os.path.join(folder, headless.file)
    before = ""
    with contextlib.suppress(FileNotFoundError), open(path, encoding="utf-8", errors="surrogateescape") as stream:
        before = stream.read().rstrip() + "\n\n"
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as stream:
        stream.write(f"{before}{text}\n")


def _surroundings(bench: Bench, own: str) -> dict[str, str]:
    """A home with nothing in it, and an environment with nothing of the person's but what it takes to run."""
    shutil.rmtree(own, ignore_errors=True)
    home, scratch = os.path.join(own, "home"), os.path.join(own, "tmp")
    for path in (home, scratch):
        os.makedirs(path)
    kept = {name: bench.environment[name] for name in (*_KEPT, bench.key) if name in bench.environment}
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
    write_whole(path, contents.encode(), make_folders=True)
