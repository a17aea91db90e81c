"""Runs the attacks: `python -m tests.attacks [--seed N] [--size small|full] [--only NAME] [--json FILE]`.

Prints a table of figures and what broke; the exit code is 1 if something did.
"""

import argparse
import json
import platform
import sys
import tempfile
import time
from dataclasses import asdict

from tests.attacks.attack import AttackResult, Size
from tests.attacks.suite import ATTACKS

MOST_SHOWN = 10


def main() -> int:
    names = [name for name, _ in ATTACKS]
    parser = argparse.ArgumentParser(prog="./dev attack", description="Attack Preheat, and show what broke.")
    parser.add_argument("--seed", type=int, default=1, help="the seed of everything random (1)")
    parser.add_argument("--size", choices=("small", "full"), default="full", help="small is what CI runs (full)")
    parser.add_argument("--only", action="append", choices=names, default=[], metavar="NAME", help=", ".join(names))
    parser.add_argument("--json", default="", metavar="FILE", help="write the results there as well")
    options = parser.parse_args()
    results: dict[str, AttackResult] = {}
    for name, attack in ATTACKS:
        if options.only and name not in options.only:
            continue
        print(f"attack: {name} ({options.size}, seed {options.seed}) …", file=sys.stderr, flush=True)
        started = time.monotonic()
        size: Size = options.size
        with tempfile.TemporaryDirectory(prefix="preheat-attack-", ignore_cleanup_errors=True) as folder:
            results[name] = attack(size, options.seed, folder)
        results[name].figures["seconds"] = round(time.monotonic() - started, 1)
    print(render(results, options.size))
    if options.json:
        write_json(options.json, results, options.size, options.seed)
    return 1 if any(result.broken for result in results.values()) else 0


def render(results: dict[str, AttackResult], size: str) -> str:
    """The table of figures, and below it what broke."""
    lines = ["| attack | size | tried | broken | figures |", "|---|---|---|---|---|"]
    for name, result in results.items():
        figures = "; ".join(f"{key} {_number(value)}" for key, value in result.figures.items())
        lines.append(f"| {name} | {size} | {result.tried:,} | {len(result.broken)} | {figures} |")
    for name, result in results.items():
        lines += [f"broken in {name}: {each}" for each in result.broken[:MOST_SHOWN]]
        if len(result.broken) > MOST_SHOWN:
            lines.append(f"broken in {name}: … and {len(result.broken) - MOST_SHOWN} more (`--json` has all)")
    return "\n".join(lines)


def _number(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:,.10g}"


def write_json(path: str, results: dict[str, AttackResult], size: str, seed: int) -> None:
    machine = {
        "python": platform.python_version(),
        "system": platform.system(),
        "time": time.strftime("%Y-%m-%d %H:%M"),
    }
    attacks = {name: asdict(result) for name, result in results.items()}
    with open(path, "w", encoding="utf-8") as stream:
        json.dump({"size": size, "seed": seed, "machine": machine, "attacks": attacks}, stream, indent=2)


if __name__ == "__main__":
    sys.exit(main())
