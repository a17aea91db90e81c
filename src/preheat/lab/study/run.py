"""Runs a plan with a local model or at an endpoint, and checks the model and its runtime first. Appends one line for each cell.

A run can be stopped and started again: the first line of its file says what is run, and only the same run goes on with a file.
Standard library and numpy only.
"""

import importlib
import importlib.metadata
import json
import os
import re
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from preheat.lab.study.errors import EndpointFailed, OtherRun, Shifted, Unfit
from preheat.lab.study.model import SMALL, Engine, Model, score, split_prompt, token_nats, write_stepwise
from preheat.lab.study.plan import Cell, Plan, StudyTask
from preheat.lab.study.prompts import (
    PREFILL,
    SYSTEM,
    TOOL,
    ArmContext,
    Message,
    endpoint_messages,
    fit_to_length,
    prefix,
    suffix,
    target,
)


# Runs the cells of a plan with a model, and appends one line for each to a file.
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


# Checks of a model and its runtime before a run
_FORM = '{"name": <function-name>, "arguments": <args-json-object>}'
_CALL = "make check"
_CONVERSATION = (
    Message("user", "First."),
    Message("assistant", "", _CALL),
    Message("tool", "done"),
    Message("assistant", "Good."),
    Message("user", "Second."),
)


MOST_APART = 0.1
"""Nats per token."""


def check_model(engine: Engine, of: Plan, sample: int = 4) -> dict[str, Any]:
    """All checks; the prompts of the sample are spread over the plan."""
    cells = of.cells[:: max(1, len(of.cells) // sample)][:sample]
    return {
        "template": check_template(engine),
        "off_by_one": check_offset(engine),
        "same_when_kept": check_kept_prefix(engine, of, cells),
        "threads": engine.threads,
    }


def check_template(engine: Engine) -> str:
    """Whether our prompts are those of the template in the model file; `other` where that has no place for tools."""
    source = engine.template()
    if "tools" not in source:
        return "other: the model's own template knows no tools"
    environment = importlib.import_module("jinja2.sandbox").ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True
    )
    environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False, "sort_keys": False}
    messages: list[dict[str, Any]] = [{"role": "system", "content": f"{SYSTEM}\n\nA note."}]
    for message in _CONVERSATION:
        if message.command:
            call = {"name": "bash", "arguments": {"command": message.command}}
            messages.append(
                {"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": call}]}
            )
        else:
            messages.append({"role": message.role, "content": message.text})
    theirs = environment.from_string(source).render(messages=messages, tools=[TOOL], add_generation_prompt=True)
    ours = prefix((), "A note.") + suffix(_CONVERSATION).removesuffix(PREFILL)
    if theirs == ours.replace(_FORM, f"{{{_FORM}}}"):
        return "equal to the model's own, but for braces that its file has doubled by mistake"
    if theirs != ours:
        raise Unfit(f"prompts differ from the model's own template: {theirs!r} is not {ours!r}")
    return "equal to the model's own"


def check_offset(engine: Engine) -> float:
    """Nats of a word that must be easy; scored one token late it costs more than 5."""
    start = engine.tokens("The capital of France is")
    engine.reset()
    row = engine.after(start, keep=1)[0]
    found = token_nats(row, engine.tokens(" Paris")[0])
    if found > 2.0:
        raise Unfit(f"an easy word costs {found:.2f} nats: the scores are not of the tokens they should be of")
    return round(found, 4)


def check_kept_prefix(engine: Engine, of: Plan, cells: Sequence[Cell]) -> dict[str, Any]:
    """A prefix that was kept must give the very numbers of one that is worked on anew, and nearly those of working on it token
    by token: kernels for many tokens at once are other programs, and one of them turned out to be wrong."""
    contexts = Contexts(of, engine)
    differences: list[float] = []
    for cell in cells:
        task = of.tasks[cell.task]
        asked = split_prompt(engine, contexts.get(cell.context).prefix, suffix(task.conversation), target(task.answer))
        engine.reset()
        anew = score(engine, asked, -1).nll
        kept = score(engine, asked, -1).nll
        if anew != kept:
            raise Unfit(f"a kept prefix changes the scores of `{cell.task}`: {anew} and {kept}")
        engine.reset()
        for token in (*asked.prefix, *asked.suffix[:-1]):
            engine.after([token], keep=0)
        rows = [engine.after([token], keep=1)[0] for token in (asked.suffix[-1], *asked.command[:-1])]
        single = [token_nats(row, token) for row, token in zip(rows, asked.command, strict=True)]
        differences.append(sum(single) / len(single) - sum(anew) / len(anew))
    farthest = max(abs(each) for each in differences)
    if farthest > MOST_APART:
        raise Unfit(
            f"many tokens at once give other scores than one by one, by up to {farthest:.2f} nats a token; "
            f"run with `--chunk {SMALL}`"
        )
    return {
        "prompts": len(cells),
        "bit_equal": True,
        "chunk": engine.chunk,
        "nats_to_one_by_one": [round(each, 5) for each in differences],
    }


# The same tasks at an OpenAI-compatible endpoint
_SECONDS = 300.0
_IN_FENCE = re.compile(r"```(?:json|bash|sh)?\s*\n(.*?)```", re.DOTALL)
_UNFIT = re.compile(r"[^A-Za-z0-9.]+")


class Endpoint:
    """Where the model is; a key is taken from `OPENAI_API_KEY` if there is one."""

    def __init__(self, url: str, model: str) -> None:
        self.url, self.model = url.rstrip("/"), model
        self.label = _UNFIT.sub("-", model or "endpoint").strip("-")

    def ask(self, messages: list[dict[str, Any]]) -> dict[str, Any]:
        """The message that it answers with."""
        body = {"model": self.model, "messages": messages, "tools": [TOOL], "temperature": 0, "max_tokens": 256}
        headers = {"content-type": "application/json"}
        if key := os.environ.get("OPENAI_API_KEY"):
            headers["authorization"] = f"Bearer {key}"
        request = urllib.request.Request(f"{self.url}/chat/completions", json.dumps(body).encode(), headers)
        try:
            with urllib.request.urlopen(request, timeout=_SECONDS) as answer:
                document = json.load(answer)
            message: dict[str, Any] = document["choices"][0]["message"]
        except (urllib.error.URLError, OSError, ValueError, LookupError, TypeError) as error:
            raise EndpointFailed(f"`{self.url}` did not answer as it should: {error}; start again to go on") from error
        return message


def find_command(message: dict[str, Any]) -> str | None:
    """The command of an answer: of its first call, else of a JSON object in its text, which is what small models write."""
    for call in message.get("tool_calls") or ():
        found = _command_of(str((call.get("function") or {}).get("arguments") or ""))
        if found is not None:
            return found
    text = str(message.get("content") or "")
    for part in (*_IN_FENCE.findall(text), text, *re.findall(r"\{.*\}", text, re.DOTALL)):
        found = _command_of(part.strip())
        if found is not None:
            return found
    return None


def _command_of(text: str) -> str | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    if isinstance(value, dict) and isinstance(value.get("arguments"), dict):
        value = value["arguments"]
    command = value.get("command") if isinstance(value, dict) else None
    return command if isinstance(command, str) else None


def run_endpoint(of: Plan, endpoint: Endpoint, plan: str, protocol: str, path: str, limit: int = 0) -> int:
    """Ask what has not been asked yet."""
    identity = Identity(endpoint.url, endpoint.model, plan, protocol, 0, 0, "endpoint")
    done = begin_file(path, identity)
    count = 0
    with open(path, "a", encoding="utf-8") as stream:
        for cell in remaining(of, done):
            if limit and count >= limit:
                break
            task, given = of.tasks[cell.task], _given(of, cell.context)
            command = find_command(endpoint.ask(endpoint_messages(given.messages, given.note, task.conversation)))
            row = {
                "task": task.id,
                "arm": cell.arm,
                "cluster": task.cluster,
                "kind": task.kind,
                "text": command or "",
                "closed": command is not None,
                "exact": command is not None and command.strip() == task.answer,
            }
            stream.write(json.dumps(row, ensure_ascii=False) + "\n")
            stream.flush()
            count += 1
    return count


def _given(of: Plan, name: str) -> ArmContext:
    other = of.matched.get(name)
    return of.contexts[name] if other is None else fit_to_length(of.contexts[name], len(of.contexts[other].prefix), len)
