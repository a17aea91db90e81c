"""The first-file study: how likely a model finds the path that a session really opened first, with and without orientation.

`docs/paper/protocol-first-file.md` says what is compared and why. A plan is made by `benchmarks.first_file`; here it is run.
Standard library and numpy only, because the models' own environment has nothing else.

python -m preheat.lab.study.first_file plan DIR              DIR/plans/first-file.json
python -m preheat.lab.study.first_file run DIR --model 0.5b  go on until all is done; safe to stop and to start again
python -m preheat.lab.study.first_file report DIR [--page docs/paper/paper.md]   the figures as JSON
"""

import argparse
import importlib
import importlib.util
import json
import os
import sys
import time
from collections.abc import Sequence
from itertools import takewhile
from typing import Any, NamedTuple

import numpy
from numpy.typing import NDArray

from preheat.lab.study.__main__ import ROOT
from preheat.lab.study.errors import ModelCheckError, StudyError, TokenBorderError
from preheat.lab.study.fetch import SOURCES, file_digest
from preheat.lab.study.model import LARGE, Engine, Model, token_nats
from preheat.lab.study.plan import plan_digest
from preheat.lab.study.prompts import ArmContext, Message, fit_to_length, render_prefix, render_suffix
from preheat.lab.study.run import MOST_APART, Identity, begin_file, check_offset, check_template, runtime_version

ARMS = ("nothing", "orientation", "other", "folders")
PROTOCOL = os.path.join(ROOT, "docs", "paper", "protocol-first-file.md")
_GIVEN = 'cat \\"'
"""The beginning of the command that is given to the model, as it stands in JSON: a token ends there."""
_PACKAGE = "preheat.lab.study.first_file"


class FirstFileTask(NamedTuple):
    """One session: its prompt, the path that it used first, others to rank it among, and the text of each arm."""

    id: str
    cluster: str
    prompt: str
    target: str
    others: tuple[str, ...]
    texts: dict[str, str]
    """By arm; `other` is made as long as `orientation` for each model."""
    place: int
    """Of the target in the orientation, from 1; 0 if it is not named."""


class FirstFileScore(NamedTuple):
    """What came of a task in one arm."""

    nll: tuple[float, ...]
    """Nats of each token of the target."""
    rank: int
    candidates: int
    prompt_tokens: int


def encode_tasks(tasks: Sequence[FirstFileTask]) -> bytes:
    return json.dumps([task._asdict() for task in tasks], ensure_ascii=False, indent=1).encode()


def decode_tasks(data: bytes) -> list[FirstFileTask]:
    return [FirstFileTask(**{**row, "others": tuple(row["others"])}) for row in json.loads(data)]


def render(prompt: str, text: str) -> str:
    """The whole prompt up to where the path begins."""
    request = f"{prompt}\n\n{text}" if text else prompt
    return render_prefix(()) + render_suffix((Message("user", request),)) + _GIVEN


def arm_text(task: FirstFileTask, arm: str, model: Model) -> str:
    """The text of an arm, as long as it must be for this model."""
    text = task.texts[arm]
    if arm != "other":
        return text

    def count(prefix: str) -> int:
        return len(model.tokens(prefix))

    wanted = count(render_prefix((), task.texts["orientation"]))
    return fit_to_length(ArmContext(text), wanted, count).note


def score_task(model: Model, task: FirstFileTask, arm: str) -> FirstFileScore:
    """Score the target and the paths that it is ranked among. What all arms of a task share is worked on once."""
    whole = render(task.prompt, arm_text(task, arm, model))
    prompt = model.tokens(whole)
    shared = _shared_tokens(model, task)
    paths = [_path_tokens(model, whole, prompt, path) for path in (task.target, *task.others)]
    model.hold(shared)
    row = model.after(prompt[len(shared) :], keep=1)[0]
    nats = [_score_path(model, row, path, len(prompt)) for path in paths]
    model.cut(len(shared))
    sums = [sum(each) for each in nats]
    return FirstFileScore(nats[0], 1 + sum(other < sums[0] for other in sums[1:]), len(sums), len(prompt))


def _shared_tokens(model: Model, task: FirstFileTask) -> list[int]:
    """The tokens with which the prompts of all arms begin, but for the last ones of the shortest."""
    prompts = [model.tokens(render(task.prompt, text)) for text in task.texts.values()]
    same = takewhile(lambda tokens: len(set(tokens)) == 1, zip(*prompts, strict=False))
    return [tokens[0] for tokens in same][: min(map(len, prompts)) - 1]


def _path_tokens(model: Model, whole: str, prompt: list[int], path: str) -> list[int]:
    tokens = model.tokens(whole + path)
    if tokens[: len(prompt)] != prompt or len(tokens) == len(prompt):
        raise TokenBorderError(f"a token straddles the beginning of `{path[:40]}`")
    return tokens[len(prompt) :]


def _score_path(model: Model, row: NDArray[numpy.float64], path: Sequence[int], length: int) -> tuple[float, ...]:
    """The nats of each token of a path, after a prompt of so many tokens whose last logits are given."""
    rows = [row, *(model.after(path[:-1], keep=len(path) - 1) if len(path) > 1 else ())]
    model.cut(length)
    return tuple(token_nats(each, token) for each, token in zip(rows, path, strict=True))


def run_tasks(
    tasks: Sequence[FirstFileTask], model: Model, identity: Identity, path: str, limit: int = 0, seconds: float = 0.0
) -> int:
    """Run what is not done yet: at most `limit` tasks, for at most so many seconds. How many cells were run."""
    done = begin_file(path, identity)
    started, count = time.monotonic(), 0
    with open(path, "a", encoding="utf-8") as stream:
        for number, task in enumerate(tasks[: limit or len(tasks)]):
            for arm in (*ARMS[number % len(ARMS) :], *ARMS[: number % len(ARMS)]):
                if seconds and time.monotonic() - started > seconds:
                    return count
                if (task.id, arm) not in done:
                    stream.write(json.dumps(_run_cell(model, task, arm)) + "\n")
                    stream.flush()
                    count += 1
    return count


def _run_cell(model: Model, task: FirstFileTask, arm: str) -> dict[str, Any]:
    begun = time.monotonic()
    about = {"task": task.id, "arm": arm, "cluster": task.cluster, "kind": "named" if task.place else "not named"}
    try:
        found = score_task(model, task, arm)
    except (TokenBorderError, ValueError) as error:
        return {**about, "skipped": str(error)[:60] if isinstance(error, ValueError) else "token border"}
    return {
        **about,
        "tokens": len(found.nll),
        "nll": round(sum(found.nll) / len(found.nll), 6),
        "rank": found.rank,
        "exact": found.rank == 1,
        "candidates": found.candidates,
        "prompt_tokens": found.prompt_tokens,
        "seconds": round(time.monotonic() - begun, 3),
    }


def check_scores(engine: Engine, task: FirstFileTask) -> dict[str, Any]:
    """A prefix that was kept must give the very numbers of one that is worked on anew, and nearly those of token by token."""
    engine.reset()
    anew = score_task(engine, task, "orientation").nll
    if anew != score_task(engine, task, "orientation").nll:
        raise ModelCheckError(f"a kept prefix changes the scores of `{task.id}`")
    whole = render(task.prompt, task.texts["orientation"])
    prompt = engine.tokens(whole)
    path = _path_tokens(engine, whole, prompt, task.target)
    engine.reset()
    for token in prompt[:-1]:
        engine.after([token], keep=0)
    rows = [engine.after([token], keep=1)[0] for token in (prompt[-1], *path[:-1])]
    single = [token_nats(row, token) for row, token in zip(rows, path, strict=True)]
    apart = sum(single) / len(single) - sum(anew) / len(anew)
    if abs(apart) > MOST_APART:
        raise ModelCheckError(f"many tokens at once give other scores than one by one, by {apart:.2f} nats a token")
    engine.reset()
    return {"bit_equal": True, "nats_to_one_by_one": round(apart, 5)}


# The command.
def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog=f"python -m {_PACKAGE}", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("action", choices=("plan", "run", "report"))
    parser.add_argument("folder")
    parser.add_argument("--repositories", default="", help="for `plan`: bare clones in FOLDER/OWNER+NAME/repo")
    parser.add_argument("--model", default="0.5b", choices=tuple(SOURCES), help="for `run` (0.5b)")
    parser.add_argument("--limit", type=int, default=0, help="for `run`: at most so many tasks")
    parser.add_argument("--seconds", type=float, default=0.0, help="for `run`: at most so long")
    parser.add_argument("--page", default="", help="for `report`: the page whose block is filled")
    options = parser.parse_args(arguments)
    try:
        return int({"plan": _plan, "run": _run, "report": _report}[options.action](options))
    except (StudyError, FileNotFoundError) as error:
        print(f"study: {error}", file=sys.stderr)
        return 2


def _plan(options: argparse.Namespace) -> int:
    make = importlib.import_module("benchmarks.first_file").make_first_file_plan
    data = encode_tasks(make(options.repositories))
    os.makedirs(os.path.dirname(_plan_path(options.folder)), exist_ok=True)
    with open(_plan_path(options.folder), "wb") as stream:
        stream.write(data)
    print(f"first-file: {len(decode_tasks(data))} tasks, SHA-256 {plan_digest(data)}")
    return 0


def _plan_path(folder: str) -> str:
    return os.path.join(folder, "plans", "first-file.json")


def _run(options: argparse.Namespace) -> int:
    python = os.path.join(options.folder, "venv", "bin", "python")
    if importlib.util.find_spec("ik_llama_cpp") is None and os.path.exists(python):
        source = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
        os.execve(python, [python, "-m", _PACKAGE, *sys.argv[1:]], {**os.environ, "PYTHONPATH": source})
    if not os.path.exists(_plan_path(options.folder)):
        raise FileNotFoundError(f"no plan in `{options.folder}`; `python -m {_PACKAGE} plan {options.folder}` makes it")
    with open(_plan_path(options.folder), "rb") as stream:
        data = stream.read()
    tasks = decode_tasks(data)
    path = os.path.join(options.folder, "models", SOURCES[options.model].file)
    engine = Engine(path, 1, LARGE)
    identity = Identity(
        file_digest(path), os.path.basename(path), plan_digest(data), file_digest(PROTOCOL), 1, LARGE, runtime_version()
    )
    checked = {
        "template": check_template(engine),
        "off_by_one": check_offset(engine),
        "same_when_kept": check_scores(engine, tasks[0]),
    }
    print(json.dumps(checked), flush=True)
    os.makedirs(os.path.join(options.folder, "runs"), exist_ok=True)
    target = os.path.join(options.folder, "runs", f"first-file-{options.model}.jsonl")
    count = run_tasks(tasks, engine, identity, target, options.limit, options.seconds)
    print(f"first-file: {count} cells, in {target}", flush=True)
    return 0


def _report(options: argparse.Namespace) -> int:
    results = importlib.import_module("preheat.lab.study.first_file_results")
    found = results.read_results(options.folder)
    if options.page:
        with open(options.page, encoding="utf-8") as stream:
            page = results.fill_page(stream.read(), found)
        with open(options.page, "w", encoding="utf-8") as stream:
            stream.write(page)
    print(json.dumps(found, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
