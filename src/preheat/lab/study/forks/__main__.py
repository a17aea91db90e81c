"""`python -m preheat.lab.study.forks`: the fork study. `docs/paper/protocol-forks.md` says what is studied, and why.

python -m preheat.lab.study fetch DIR 0.5b                          the model and the runtime, into DIR
python -m preheat.lab.study.forks plan DIR --data SESSIONS --repositories MIRRORS
python -m preheat.lab.study.forks run DIR --model 0.5b              safe to stop and to start again
python -m preheat.lab.study.forks report DIR --to docs/paper        forks.json, and the tables of the paper
python -m preheat.lab.study.forks --study wording plan DIR …        the second study: the same cases, in both wordings
"""

import argparse
import importlib
import importlib.util
import json
import os
import sys

from preheat.lab.study.__main__ import ROOT
from preheat.lab.study.errors import StudyError
from preheat.lab.study.fetch import SOURCES, file_digest
from preheat.lab.study.forks.cases import ForkCase, decode_cases, encode_cases
from preheat.lab.study.plan import plan_digest

_PACKAGE = "preheat.lab.study.forks"
PROTOCOLS = {"forks": "protocol-forks.md", "wording": "protocol-forks-wording.md"}
"""Of each study: `wording` has the cases of `forks` that its plan still has, with the text in both wordings."""


def main(arguments: list[str] | None = None) -> int:
    options = _options().parse_args(arguments)
    try:
        return int({"plan": _plan, "run": _run, "report": _report}[options.action](options))
    except (StudyError, FileNotFoundError) as error:
        print(f"study: {error}", file=sys.stderr)
        return 2


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"python -m {_PACKAGE}", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--study", choices=PROTOCOLS, default="forks", help="which of the two (forks)")
    actions = parser.add_subparsers(dest="action", required=True)
    each = actions.add_parser("plan", help="make the cases from real sessions")
    each.add_argument("folder")
    each.add_argument("--data", default="", help="the folder of sessions (the shared ones)")
    each.add_argument("--repositories", default="", help="bare mirrors of the projects, OWNER+NAME/repo each")
    each = actions.add_parser("run", help="score the cases with a model")
    each.add_argument("folder")
    each.add_argument("--model", required=True, help=f"{', '.join(SOURCES)}, or the path of a GGUF file")
    each.add_argument("--chunk", type=int, default=0, help="tokens of a prefix at once (256; 31 for 135m)")
    each.add_argument("--limit", type=int, default=0, help="at most so many cases")
    each.add_argument("--seconds", type=float, default=0.0, help="at most so long")
    each = actions.add_parser("report", help="figures and tables from what has been run")
    each.add_argument("folder")
    each.add_argument("--to", default="", help="where they go (FOLDER/report)")
    return parser


def _cases_path(folder: str, study: str) -> str:
    return os.path.join(folder, "plans", f"{study}.json")


def _read_plan(folder: str, study: str) -> bytes:
    path = _cases_path(folder, study)
    if not os.path.exists(path):
        raise FileNotFoundError(f"no cases in `{folder}`; `python -m {_PACKAGE} --study {study} plan` makes them")
    with open(path, "rb") as file:
        return file.read()


def _plan(options: argparse.Namespace) -> int:
    earlier: list[ForkCase] = []
    if options.study == "wording":
        earlier = decode_cases(_read_plan(options.folder, "forks"))
    cases = importlib.import_module("benchmarks.fork_study").make_cases(options.data, options.repositories, earlier)
    data = encode_cases(cases)
    os.makedirs(os.path.dirname(_cases_path(options.folder, options.study)), exist_ok=True)
    with open(_cases_path(options.folder, options.study), "wb") as stream:
        stream.write(data)
    product = sum(case.stratum == "product" for case in cases)
    print(f"{product} cases with a text of the product, {len(cases) - product} named, SHA-256 {plan_digest(data)}")
    return 0


def _run(options: argparse.Namespace) -> int:
    python = os.path.join(options.folder, "venv", "bin", "python")
    if importlib.util.find_spec("ik_llama_cpp") is None and os.path.exists(python):
        source = os.path.join(ROOT, "src") if os.path.isdir(os.path.join(ROOT, "src")) else ROOT
        os.execve(python, [python, "-m", _PACKAGE, *sys.argv[1:]], {**os.environ, "PYTHONPATH": source})
    from preheat.lab.study.forks.scoring import make_check_plan, run_cases  # numpy and the runtime are there only now
    from preheat.lab.study.model import LARGE, SMALL, Engine
    from preheat.lab.study.run import Identity, check_model, runtime_version

    data = _read_plan(options.folder, options.study)
    cases = decode_cases(data)
    known = options.model in SOURCES
    path = os.path.join(options.folder, "models", SOURCES[options.model].file) if known else options.model
    name = options.model if known else os.path.basename(path).removesuffix(".gguf")
    chunk = options.chunk or (SMALL if options.model == "135m" else LARGE)
    engine = Engine(path, 1, chunk)
    protocol = file_digest(os.path.join(ROOT, "docs", "paper", PROTOCOLS[options.study]))
    identity = Identity(
        file_digest(path), os.path.basename(path), plan_digest(data), protocol, 1, chunk, runtime_version()
    )
    os.makedirs(os.path.join(options.folder, "runs"), exist_ok=True)
    kept = os.path.join(options.folder, "runs", f"{options.study}-{name}.check.json")
    if not os.path.exists(kept):
        found = check_model(engine, make_check_plan(cases))
        with open(kept, "w", encoding="utf-8") as stream:
            json.dump(found, stream, indent=2)
    target = os.path.join(options.folder, "runs", f"{options.study}-{name}.jsonl")
    count = run_cases(cases, engine, identity, target, options.limit, options.seconds)
    print(f"{options.study}: {count} cases, in {target}", flush=True)
    return 0


def _report(options: argparse.Namespace) -> int:
    from preheat.lab.study.forks.results import write_fork_report  # needs the product's statistics, which a run has not

    print(write_fork_report(options.folder, options.to or os.path.join(options.folder, "report"), options.study))
    return 0


if __name__ == "__main__":
    sys.exit(main())
