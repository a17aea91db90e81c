"""`python -m preheat.lab.study`: fetch the models, make the plans, run them, report. `docs/paper/` says what is studied and why.

python -m preheat.lab.study fetch DIR 135m 0.5b 1.5b      the models and the runtime, into DIR
python -m preheat.lab.study plan DIR                      DIR/plans/{lab,harm,nextcall,explore}.json
python -m preheat.lab.study run DIR --model 0.5b          go on until all is done; safe to stop and to start again
python -m preheat.lab.study report DIR                    tables, figures and JSON from what has been run
"""

import argparse
import importlib
import importlib.util
import json
import os
import sys
from typing import Any

from preheat.lab.study.errors import FetchError, StudyError
from preheat.lab.study.fetch import SOURCES, fetch_model, file_digest, install_runtime
from preheat.lab.study.plan import Plan, decode_plan, encode_plan, plan_digest

_MAKERS = {
    "lab": ("preheat.lab.study.lab_plans", "make_lab_plan"),
    "harm": ("preheat.lab.study.lab_plans", "make_harm_plan"),
    "nextcall": ("benchmarks.nextcall", "make_nextcall_plan"),
    "explore": ("preheat.lab.study.lab_plans", "make_explore_plan"),
}
"""By plan: the module and the function that makes it. Imported only then: the models' own environment has none of the product's
dependencies."""
PLANS = tuple(_MAKERS)
_PACKAGE = "preheat.lab.study"


def _folder_with(*parts: str) -> str:
    """The nearest folder above this file that contains a path: of the checkout, or the one that Python imports from."""
    folder = os.path.dirname(os.path.abspath(__file__))
    while not os.path.exists(os.path.join(folder, *parts)) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
    return folder


ROOT = _folder_with("docs", "paper")
PROTOCOL = os.path.join(ROOT, "docs", "paper", "protocol.md")


def main(arguments: list[str] | None = None) -> int:
    options = _options().parse_args(arguments)
    try:
        return int(globals()[f"_{options.action}"](options))
    except (StudyError, FileNotFoundError) as error:
        print(f"study: {error}", file=sys.stderr)
        return 2


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"python -m {_PACKAGE}", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    actions = parser.add_subparsers(dest="action", required=True)
    each = actions.add_parser("fetch", help="get models and the runtime")
    each.add_argument("folder")
    each.add_argument("models", nargs="*", default=list(SOURCES), help=f"which (all: {', '.join(SOURCES)})")
    each = actions.add_parser("plan", help="make the plans")
    each.add_argument("folder")
    each.add_argument("--only", choices=PLANS, action="append", help="which (all)")
    each = actions.add_parser("run", help="run the plans with a model")
    each.add_argument("folder")
    model = each.add_mutually_exclusive_group(required=True)
    model.add_argument("--model", help=f"{', '.join(SOURCES)}, or the path of a GGUF file")
    model.add_argument("--endpoint", help="address of an OpenAI-compatible endpoint (…/v1): only what it writes counts")
    each.add_argument("--model-name", default="", help="the model's name at the endpoint")
    each.add_argument("--only", choices=PLANS, action="append", help="which plans (all)")
    each.add_argument("--threads", type=int, default=1)
    each.add_argument("--chunk", type=int, default=0, help="tokens of a prefix at once (256; 31 for 135m)")
    each.add_argument("--limit", type=int, default=0, help="at most so many cells of each plan")
    each.add_argument("--seconds", type=float, default=0.0, help="at most so long for each plan")
    each.add_argument("--arms", default="", help="only these arms, with commas")
    each = actions.add_parser("report", help="tables, figures and JSON")
    each.add_argument("folder")
    each.add_argument("--to", default="", help="where they go (FOLDER/report)")
    return parser


def _fetch(options: argparse.Namespace) -> int:
    for name in options.models:
        if name not in SOURCES:
            raise FetchError(f"no model `{name}`; there are {', '.join(SOURCES)}")
        print(f"{name}: {fetch_model(name, os.path.join(options.folder, 'models'))}", flush=True)
    print(f"runtime: {install_runtime(os.path.join(options.folder, 'venv'))}")
    return 0


def _plan(options: argparse.Namespace) -> int:
    os.makedirs(os.path.join(options.folder, "plans"), exist_ok=True)
    for name in options.only or PLANS:
        module, function = _MAKERS[name]
        plan = getattr(importlib.import_module(module), function)()
        data = encode_plan(plan)
        with open(_plan_path(options.folder, name), "wb") as stream:
            stream.write(data)
        print(f"{name}: {len(plan.tasks)} tasks, {len(plan.cells)} cells, SHA-256 {plan_digest(data)}")
    return 0


def _plan_path(folder: str, name: str) -> str:
    return os.path.join(folder, "plans", f"{name}.json")


def _read_plan(folder: str, name: str) -> tuple[Plan, str]:
    path = _plan_path(folder, name)
    if not os.path.exists(path):
        raise FileNotFoundError(f"no plan `{path}`; `python -m preheat.lab.study plan {folder}` makes it")
    with open(path, "rb") as stream:
        data = stream.read()
    return decode_plan(data), plan_digest(data)


def _run(options: argparse.Namespace) -> int:
    python = os.path.join(options.folder, "venv", "bin", "python")
    if options.model and importlib.util.find_spec("ik_llama_cpp") is None and os.path.exists(python):
        environment = {**os.environ, "PYTHONPATH": _folder_with(*_PACKAGE.split("."))}
        os.execve(python, [python, "-m", _PACKAGE, *sys.argv[1:]], environment)
    if options.endpoint:
        return _run_endpoint(options)
    return _run_model(options)


def _run_model(options: argparse.Namespace) -> int:
    from preheat.lab.study.model import LARGE, SMALL, Engine
    from preheat.lab.study.run import Identity, check_model, run_plan, runtime_version

    known = options.model in SOURCES
    path = os.path.join(options.folder, "models", SOURCES[options.model].file) if known else options.model
    chunk = options.chunk or (SMALL if options.model == "135m" else LARGE)
    engine = Engine(path, options.threads, chunk)
    name = options.model if known else os.path.basename(path).removesuffix(".gguf")
    identity = Identity(
        file_digest(path), os.path.basename(path), "", file_digest(PROTOCOL), options.threads, chunk, runtime_version()
    )
    os.makedirs(os.path.join(options.folder, "runs"), exist_ok=True)
    for plan_name in options.only or PLANS:
        plan, plan_digest = _read_plan(options.folder, plan_name)
        identity = identity._replace(plan=plan_digest)
        kept = os.path.join(options.folder, "runs", f"{plan_name}-{name}.check.json")
        if _load_check(kept).get("run") != identity._asdict():
            _store_check(kept, {"run": identity._asdict(), **check_model(engine, plan)})
        target = os.path.join(options.folder, "runs", f"{plan_name}-{name}.jsonl")
        chosen = _with_arms(plan, options.arms)
        count = run_plan(chosen, engine, identity, target, options.limit, options.seconds)
        print(f"{plan_name}: {count} cells, in {target}", flush=True)
    return 0


def _run_endpoint(options: argparse.Namespace) -> int:
    from preheat.lab.study.run import Endpoint, run_endpoint

    os.makedirs(os.path.join(options.folder, "runs"), exist_ok=True)
    endpoint = Endpoint(options.endpoint, options.model_name)
    for plan_name in options.only or PLANS[:2]:
        plan, plan_digest = _read_plan(options.folder, plan_name)
        target = os.path.join(options.folder, "runs", f"{plan_name}-{endpoint.label}.jsonl")
        count = run_endpoint(
            _with_arms(plan, options.arms), endpoint, plan_digest, file_digest(PROTOCOL), target, options.limit
        )
        print(f"{plan_name}: {count} cells, in {target}", flush=True)
    return 0


def _with_arms(plan: Plan, arms: str) -> Plan:
    if not arms:
        return plan
    wanted = set(arms.split(","))
    return plan._replace(cells=tuple(cell for cell in plan.cells if cell.arm in wanted))


def _load_check(path: str) -> dict[str, Any]:
    """What a run that goes on has checked already."""
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as stream:
        found: dict[str, Any] = json.load(stream)
    return found


def _store_check(path: str, value: dict[str, Any]) -> None:
    with open(path, "w", encoding="utf-8") as stream:
        json.dump(value, stream, indent=2)


def _report(options: argparse.Namespace) -> int:
    from preheat.lab.study.report import write_report

    print(write_report(options.folder, options.to or os.path.join(options.folder, "report")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
