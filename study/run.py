"""Runs the cells of a plan with a model, and appends one line for each to a file. Can be stopped and started again.

The first line says what is run: the digests of model, plan and protocol, the threads, the runtime. A file is only gone on with
by the very same run. Standard library and numpy only.
"""

import importlib.metadata
import json
import os
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from study.chat import suffix, target
from study.errors import OtherRun, Shifted
from study.given import ArmContext, fit_to_length
from study.plan import Cell, Plan, StudyTask
from study.scoring import Model, score, split_prompt, write_stepwise


class Identity(NamedTuple):
    """What makes two runs the same run."""

    model: str
    """SHA-256 of the file, or the address and name of an endpoint."""
    model_file: str
    plan: str
    protocol: str
    threads: int
    chunk: int
    """Tokens of a prefix that were worked on at once."""
    runtime: str


def runtime_version() -> str:
    try:
        return f"ik-llama-cpp-python {importlib.metadata.version('ik-llama-cpp-python')}"
    except importlib.metadata.PackageNotFoundError:
        return "none"


class Contexts:
    """The contexts of a plan for one model: those that must be as long as others are made so."""

    def __init__(self, of: Plan, model: Model) -> None:
        self._plan, self._model = of, model
        self._made: dict[str, ArmContext] = {}

    def count(self, text: str) -> int:
        return len(self._model.tokens(text))

    def get(self, name: str) -> ArmContext:
        if name not in self._made:
            given = self._plan.contexts[name]
            other = self._plan.matched.get(name)
            if other is not None:
                given = fit_to_length(given, self.count(self._plan.contexts[other].prefix), self.count)
            self._made[name] = given
        return self._made[name]


def run_plan(of: Plan, model: Model, identity: Identity, path: str, limit: int = 0, seconds: float = 0.0) -> int:
    """Run what is not done yet: at most `limit` cells, for at most so many seconds. How many were run."""
    done = begin_file(path, identity) - undecided(of, path)
    contexts = Contexts(of, model)
    started, count = time.monotonic(), 0
    with open(path, "a", encoding="utf-8") as stream:
        for cell in remaining(of, done):
            if (limit and count >= limit) or (seconds and time.monotonic() - started > seconds):
                break
            stream.write(json.dumps(run_cell(of.tasks[cell.task], cell, contexts, model), ensure_ascii=False) + "\n")
            stream.flush()
            count += 1
    return count


def run_cell(task: StudyTask, cell: Cell, contexts: Contexts, model: Model) -> dict[str, Any]:
    """One cell."""
    begun = time.monotonic()
    about = {"task": task.id, "arm": cell.arm, "cluster": task.cluster, "kind": task.kind}
    try:
        asked = split_prompt(model, contexts.get(cell.context).prefix, suffix(task.conversation), target(task.answer))
    except Shifted as error:
        return {**about, "skipped": str(error)}
    found = score(model, asked, task.most)
    row: dict[str, Any] = {
        **about,
        "tokens": len(found.nll),
        "nll": round(sum(found.nll) / len(found.nll), 6),
        "argmax": found.argmax,
        "text": found.text,
        "closed": found.closed,
        "astray": found.astray,
        "exact": found.closed and found.text == target(task.answer),
        "prefix_tokens": len(asked.prefix),
        "prompt_tokens": len(asked.prefix) + len(asked.suffix),
    }
    if task.verify:
        text, closed = write_stepwise(model, asked)
        row["stepwise_exact"] = closed and text == target(task.answer)
    row["seconds"] = round(time.monotonic() - begun, 3)
    return row


def remaining(of: Plan, done: set[tuple[str, str]]) -> Iterator[Cell]:
    return (cell for cell in of.cells if (cell.task, cell.arm) not in done)


def undecided(of: Plan, path: str) -> set[tuple[str, str]]:
    """Cells of an earlier version of this program that stopped too early to tell: what was written is a beginning of the
    command, in other tokens. They are done again; the later row counts."""
    return {
        (row["task"], row["arm"])
        for row in read_run(path)[1]
        if "astray" not in row
        and not row.get("closed", True)
        and row["text"]
        and target(of.tasks[row["task"]].answer).startswith(row["text"])
    }


def begin_file(path: str, identity: Identity) -> set[tuple[str, str]]:
    """What a file has already; a new one gets its first line. A last line that was cut off is taken away."""
    if not os.path.exists(path):
        header = {"run": identity._asdict(), "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(json.dumps(header) + "\n")
        return set()
    with open(path, "rb+") as file:
        data = file.read()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            file.truncate(whole)
    header, rows = read_run(path)
    if header != identity._asdict():
        raise OtherRun(f"`{path}` is of another run ({header}); take another file or move that one away")
    return {(row["task"], row["arm"]) for row in rows}


def read_run(path: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """What was run, and its rows; of a cell that was done again the last one."""
    with open(path, encoding="utf-8") as stream:
        lines = [json.loads(line) for line in stream if line.endswith("\n")]
    rows = {(row["task"], row["arm"]): row for row in lines[1:]}
    return lines[0]["run"], list(rows.values())
