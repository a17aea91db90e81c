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

from preheat.lab.study.errors import EndpointError, ModelCheckError, OtherRunError, TokenBorderError
from preheat.lab.study.model import SMALL, Engine, Model, score, split_prompt, token_nats, write_stepwise
from preheat.lab.study.plan import Cell, Plan, StudyTask
from preheat.lab.study.prompts import (
    PREFILL,
    SYSTEM,
    TOOL,
    ArmContext,
    Message,
    endpoint_messages,
    escape_command,
    fit_to_length,
    render_prefix,
    render_suffix,
)


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

    def __init__(self, plan: Plan, model: Model) -> None:
        self._plan, self._model = plan, model
        self._made: dict[str, ArmContext] = {}

    def count(self, text: str) -> int:
        return len(self._model.tokens(text))

    def get(self, name: str) -> ArmContext:
        if name not in self._made:
            context = self._plan.contexts[name]
            other = self._plan.matched.get(name)
            if other is not None:
                context = fit_to_length(context, self.count(self._plan.contexts[other].prefix), self.count)
            self._made[name] = context
        return self._made[name]


def run_plan(plan: Plan, model: Model, identity: Identity, path: str, limit: int = 0, seconds: float = 0.0) -> int:
    """Run what is not done yet: at most `limit` cells, for at most so many seconds. How many were run."""
    done = begin_file(path, identity) - undecided_cells(plan, path)
    contexts = Contexts(plan, model)
    started, count = time.monotonic(), 0
    with open(path, "a", encoding="utf-8") as stream:
        for cell in remaining_cells(plan, done):
            if (limit and count >= limit) or (seconds and time.monotonic() - started > seconds):
                break
            stream.write(json.dumps(run_cell(plan.tasks[cell.task], cell, contexts, model), ensure_ascii=False) + "\n")
            stream.flush()
            count += 1
    return count


def run_cell(task: StudyTask, cell: Cell, contexts: Contexts, model: Model) -> dict[str, Any]:
    """One cell."""
    begun = time.monotonic()
    about = {"task": task.id, "arm": cell.arm, "cluster": task.cluster, "kind": task.kind}
    try:
        prompt = split_prompt(
            model, contexts.get(cell.context).prefix, render_suffix(task.conversation), escape_command(task.answer)
        )
    except TokenBorderError as error:
        return {**about, "skipped": str(error)}
    scored = score(model, prompt, task.most)
    row: dict[str, Any] = {
        **about,
        "tokens": len(scored.nll),
        "nll": round(sum(scored.nll) / len(scored.nll), 6),
        "argmax": scored.argmax,
        "text": scored.text,
        "closed": scored.closed,
        "astray": scored.astray,
        "exact": scored.closed and scored.text == escape_command(task.answer),
        "prefix_tokens": len(prompt.prefix),
        "prompt_tokens": len(prompt.prefix) + len(prompt.suffix),
    }
    if task.verify:
        text, closed = write_stepwise(model, prompt)
        row["stepwise_exact"] = closed and text == escape_command(task.answer)
    row["seconds"] = round(time.monotonic() - begun, 3)
    return row


def remaining_cells(plan: Plan, done: set[tuple[str, str]]) -> Iterator[Cell]:
    return (cell for cell in plan.cells if (cell.task, cell.arm) not in done)


def undecided_cells(plan: Plan, path: str) -> set[tuple[str, str]]:
    """Cells of an earlier version of this program that stopped too early to tell: what was written is a beginning of the
    command, in other tokens. They are done again; the later row counts."""
    return {
        (row["task"], row["arm"])
        for row in read_run(path)[1]
        if "astray" not in row
        and not row.get("closed", True)
        and row["text"]
        and escape_command(plan.tasks[row["task"]].answer).startswith(row["text"])
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
        raise OtherRunError(f"`{path}` is of another run ({header}); take another file or move that one away")
    return {(row["task"], row["arm"]) for row in rows}


def read_run(path: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """What was run, and its rows; of a cell that was done again the last one."""
    with open(path, encoding="utf-8") as stream:
        lines = [json.loads(line) for line in stream if line.endswith("\n")]
    rows = {(row["task"], row["arm"]): row for row in lines[1:]}
    return lines[0]["run"], list(rows.values())


# Checks of a model and its runtime before a run.
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


def check_model(engine: Engine, plan: Plan, sample: int = 4) -> dict[str, Any]:
    """All checks; the prompts of the sample are spread over the plan."""
    cells = plan.cells[:: max(1, len(plan.cells) // sample)][:sample]
    return {
        "template": check_template(engine),
        "off_by_one": check_offset(engine),
        "same_when_kept": check_kept_prefix(engine, plan, cells),
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
    ours = render_prefix((), "A note.") + render_suffix(_CONVERSATION).removesuffix(PREFILL)
    if theirs == ours.replace(_FORM, f"{{{_FORM}}}"):
        return "equal to the model's own, but for braces that its file has doubled by mistake"
    if theirs != ours:
        raise ModelCheckError(f"prompts differ from the model's own template: {theirs!r} is not {ours!r}")
    return "equal to the model's own"


def check_offset(engine: Engine) -> float:
    """Nats of a word that must be easy; scored one token late it costs more than 5."""
    start = engine.tokens("The capital of France is")
    engine.reset()
    row = engine.after(start, keep=1)[0]
    nats = token_nats(row, engine.tokens(" Paris")[0])
    if nats > 2.0:
        raise ModelCheckError(f"an easy word costs {nats:.2f} nats: the scores are not of the tokens they should be of")
    return round(nats, 4)


def check_kept_prefix(engine: Engine, plan: Plan, cells: Sequence[Cell]) -> dict[str, Any]:
    """A prefix that was kept must give the very numbers of one that is worked on anew, and nearly those of working on it token
    by token: kernels for many tokens at once are other programs, and one of them turned out to be wrong."""
    contexts = Contexts(plan, engine)
    differences: list[float] = []
    for cell in cells:
        task = plan.tasks[cell.task]
        prompt = split_prompt(
            engine, contexts.get(cell.context).prefix, render_suffix(task.conversation), escape_command(task.answer)
        )
        engine.reset()
        anew = score(engine, prompt, -1).nll
        kept = score(engine, prompt, -1).nll
        if anew != kept:
            raise ModelCheckError(f"a kept prefix changes the scores of `{cell.task}`: {anew} and {kept}")
        engine.reset()
        for token in (*prompt.prefix, *prompt.suffix[:-1]):
            engine.after([token], keep=0)
        rows = [engine.after([token], keep=1)[0] for token in (prompt.suffix[-1], *prompt.command[:-1])]
        single = [token_nats(row, token) for row, token in zip(rows, prompt.command, strict=True)]
        differences.append(sum(single) / len(single) - sum(anew) / len(anew))
    farthest = max(abs(each) for each in differences)
    if farthest > MOST_APART:
        raise ModelCheckError(
            f"many tokens at once give other scores than one by one, by up to {farthest:.2f} nats a token; "
            f"run with `--chunk {SMALL}`"
        )
    return {
        "prompts": len(cells),
        "bit_equal": True,
        "chunk": engine.chunk,
        "nats_to_one_by_one": [round(each, 5) for each in differences],
    }


# The same tasks at an OpenAI-compatible endpoint.
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
            raise EndpointError(f"`{self.url}` did not answer as it should: {error}; start again to go on") from error
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


def run_endpoint(
    plan: Plan, endpoint: Endpoint, plan_digest: str, protocol_digest: str, path: str, limit: int = 0
) -> int:
    """Ask what has not been asked yet."""
    identity = Identity(endpoint.url, endpoint.model, plan_digest, protocol_digest, 0, 0, "endpoint")
    done = begin_file(path, identity)
    count = 0
    with open(path, "a", encoding="utf-8") as stream:
        for cell in remaining_cells(plan, done):
            if limit and count >= limit:
                break
            task, context = plan.tasks[cell.task], _fitted_context(plan, cell.context)
            command = find_command(endpoint.ask(endpoint_messages(context.messages, context.note, task.conversation)))
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


def _fitted_context(plan: Plan, name: str) -> ArmContext:
    other = plan.matched.get(name)
    return (
        plan.contexts[name]
        if other is None
        else fit_to_length(plan.contexts[name], len(plan.contexts[other].prefix), len)
    )
