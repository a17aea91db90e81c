"""Runs the benchmarks: `python -m benchmarks [--quick] [--data FOLDER] [--repositories FOLDER] [--against REV]
[--gitleaks FILE] [NAME...]`.

Tables on the screen, JSON in `benchmarks/results/`. A benchmark is a module with a function `run`, whose arguments say which of
the options it takes.
"""

import argparse
import importlib
import inspect
import json
import os
import platform
import sys
import time

from benchmarks.measuring import describe_origin

NAMES = (
    "startup",
    "cold_start",
    "sync",
    "whole",
    "readers",
    "redaction",
    "secrets",
    "corpus",
    "outcomes",
    "judging",
    "compression",
    "facts",
    "foresight",
    "forks",
    "learning",
    "loops",
    "orientation",
    "pages",
    "server",
    "signals",
    "latency",
    "event_cpu",
    "shell_calls",
    "hermes",
    "statistics",
    "tree",
    "fleet",
    "fleet_cost",
)
RESULTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "results")


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", default=NAMES, help=f"which (all: {', '.join(NAMES)})")
    parser.add_argument("--quick", action="store_true", help="small data, for a look")
    parser.add_argument("--data", default="", metavar="FOLDER", help="other real sessions than the shared ones")
    parser.add_argument(
        "--repositories", default="", metavar="FOLDER", help="bare mirrors of projects, OWNER+NAME/repo each"
    )
    parser.add_argument("--against", default="", metavar="REV", help="the commit to compare with, instead of 0.1.0")
    parser.add_argument("--gitleaks", default="", metavar="FILE", help="gitleaks' published rules, to compare with")
    options = parser.parse_args()
    if options.data and not os.path.isdir(options.data):
        parser.error(f"`{options.data}` is no folder")
    chosen = {
        name: value for name in ("data", "repositories", "against", "gitleaks") if (value := getattr(options, name))
    }
    if unknown := set(options.names) - set(NAMES):
        parser.error(f"no benchmark `{unknown.pop()}`; there are {', '.join(NAMES)}")
    benchmarks = {name: importlib.import_module(f"benchmarks.{name}").run for name in options.names}
    for option in chosen:
        taking = {name: run for name, run in benchmarks.items() if option in inspect.signature(run).parameters}
        if options.names is not NAMES and taking.keys() != benchmarks.keys():
            parser.error(f"`{(benchmarks.keys() - taking.keys()).pop()}` takes no --{option}")
        benchmarks = taking
    os.makedirs(RESULTS, exist_ok=True)
    for name, run in benchmarks.items():
        print(f"\n== {name}", flush=True)
        result = run(options.quick, **chosen)
        result["machine"] = {
            "cores": os.cpu_count(),
            "python": platform.python_version(),
            "system": platform.system(),
            "time": time.strftime("%Y-%m-%d %H:%M"),
        }
        result["origin"] = describe_origin()
        kept = f"{name}-{os.path.basename(os.path.abspath(options.data))}" if options.data else name
        with open(os.path.join(RESULTS, f"{kept}.json"), "w") as stream:
            json.dump(result, stream, indent=2)
    return 0


if __name__ == "__main__":
    sys.exit(main())
