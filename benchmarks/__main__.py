"""Runs the benchmarks: `python -m benchmarks [--quick] [NAME...]`; tables on the screen, JSON in `benchmarks/results/`."""

import argparse
import importlib
import json
import os
import platform
import sys
import time

NAMES = (
    "sync",
    "readers",
    "redaction",
    "corpus",
    "outcomes",
    "judging",
    "compression",
    "foresight",
    "learning",
    "loops",
    "signals",
    "latency",
    "hermes",
    "statistics",
)
RESULTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "results")


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", default=NAMES, help=f"which (all: {', '.join(NAMES)})")
    parser.add_argument("--quick", action="store_true", help="small data, for a look")
    options = parser.parse_args()
    os.makedirs(RESULTS, exist_ok=True)
    for name in options.names:
        if name not in NAMES:
            parser.error(f"no benchmark `{name}`; there are {', '.join(NAMES)}")
        print(f"\n== {name}", flush=True)
        result = importlib.import_module(f"benchmarks.{name}").run(options.quick)
        result["machine"] = {
            "cores": os.cpu_count(),
            "python": platform.python_version(),
            "system": platform.system(),
            "time": time.strftime("%Y-%m-%d %H:%M"),
        }
        with open(os.path.join(RESULTS, f"{name}.json"), "w") as stream:
            json.dump(result, stream, indent=2)
    return 0


if __name__ == "__main__":
    sys.exit(main())
