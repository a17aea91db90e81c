"""Ray with two workers beside our own pool of two processes, on the same generated corpus, in turns; what a batch adds; growth.

    python -m benchmarks.fleet --mb 4096 --rounds 2

Wall and processor time of the whole run (start of Ray included) of `fleet analyse` on Ray, of the same tasks in our own pool, and
of `preheat sync` with `lessons learn` on one archive. The corpus is made in a temporary folder and deleted.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from benchmarks.fleet_cost import generate
from benchmarks.measuring import ROOT, table

WORKERS = 2
BAR = 1.4
"""Wall time of Ray, in that of our own pool."""
_TICKS = os.sysconf("SC_CLK_TCK")


class Timed(NamedTuple):
    """One run of a command."""

    wall: float
    processor: float
    said: dict[str, Any]


def time_command(command: Sequence[str], environment: dict[str, str]) -> Timed:
    """Run a command as a session of its own; processor time of everything in the session, also of what nobody waits for."""
    started = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=ROOT, env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    used: dict[int, int] = {}
    watcher = threading.Thread(target=_watch, args=(process, used), daemon=True)
    watcher.start()
    said, errors = process.communicate()
    wall = time.perf_counter() - started
    watcher.join()
    if process.returncode not in (0, 1):
        raise RuntimeError(f"{command} ended with {process.returncode}: {errors[-800:]}")
    return Timed(wall, sum(used.values()) / _TICKS, json.loads(said) if said.lstrip().startswith("{") else {})


def _watch(process: "subprocess.Popen[str]", used: dict[int, int]) -> None:
    while process.poll() is None:
        for name in os.listdir("/proc"):
            if name.isdigit():
                try:
                    with open(f"/proc/{name}/stat") as stream:
                        fields = stream.read().rpartition(")")[2].split()
                except OSError:
                    continue
                if int(fields[3]) == process.pid:
                    used[int(name)] = int(fields[11]) + int(fields[12])
        time.sleep(0.1)


def _commands(source: str, work: str, batch: str = "64MB") -> dict[str, list[list[str]]]:
    preheat = [sys.executable, "-m", "preheat"]
    out = os.path.join(work, "out")
    return {
        "Ray": [
            [*preheat, "fleet", "analyse", source, "--out", out, "--workers", str(WORKERS), "--batch", batch, "--json"]
        ],
        "own pool": [[sys.executable, "-m", "benchmarks.fleet_cost", "--measure", source, out]],
        "sync + learn": [[*preheat, "sync", source, "--quiet"], [*preheat, "lessons", "learn", "--json"]],
    }


def _time_all(commands: list[list[str]], work: str) -> Timed:
    """Run the commands one after the other in a fresh folder."""
    for name in ("out", "home"):
        shutil.rmtree(os.path.join(work, name), ignore_errors=True)
    os.mkdir(os.path.join(work, "home"), 0o700)
    found = [time_command(each, {"PREHEAT_HOME": os.path.join(work, "home")}) for each in commands]
    return Timed(sum(each.wall for each in found), sum(each.processor for each in found), found[-1].said)


def measure(megabytes: int, rounds: int, batches: Sequence[str]) -> dict[str, Any]:
    """The three, in turns, on a corpus of a size; then Ray with other sizes of batches."""
    work = tempfile.mkdtemp(prefix="preheat-fleet-bench-")
    try:
        source = generate(megabytes, work)
        runs: dict[str, list[Timed]] = {}
        for _ in range(rounds):
            for name, commands in _commands(source, work).items():
                runs.setdefault(name, []).append(_time_all(commands, work))
                print(f"{megabytes} MB, {name}: {runs[name][-1][:2]}", flush=True)
        by_batch = []
        for batch in batches:
            found = _time_all(_commands(source, work, batch)["Ray"], work)
            by_batch.append(
                {"batch": batch, "batches": found.said["batches"], "wall": found.wall, "processor": found.processor}
            )
            print(f"{megabytes} MB, {by_batch[-1]}", flush=True)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    plain = {
        name: {
            "wall": [round(each.wall, 1) for each in some],
            "processor": [round(each.processor, 1) for each in some],
        }
        for name, some in runs.items()
    }
    return {"megabytes": megabytes, "runs": plain, "by_batch": by_batch}


def _median(found: dict[str, Any], name: str, what: str) -> float:
    return float(statistics.median(found["runs"][name][what]))


def report(results: list[dict[str, Any]]) -> dict[str, Any]:
    """Print the tables; the ratios of the largest corpus."""
    rows = [["MB", "what", "wall s", "of own pool", "processor s", "of own pool", "MB per processor s"]]
    for found in results:
        for name in found["runs"]:
            wall, processor = _median(found, name, "wall"), _median(found, name, "processor")
            rows.append([
                str(found["megabytes"]), name, f"{wall:.1f}", f"{wall / _median(found, 'own pool', 'wall'):.2f}",
                f"{processor:.1f}", f"{processor / _median(found, 'own pool', 'processor'):.2f}",
                f"{found['megabytes'] / processor:.1f}",
            ])  # fmt: skip
    table(rows)
    largest = results[-1]
    ratio = _median(largest, "Ray", "wall") / _median(largest, "own pool", "wall")
    print(f"\nRay / own pool on {largest['megabytes']} MB: {ratio:.2f} (bar {BAR})")
    some = largest["by_batch"]
    each_batch = 0.0
    if len(some) > 1:
        fewest, most = min(some, key=lambda each: each["batches"]), max(some, key=lambda each: each["batches"])
        each_batch = (most["processor"] - fewest["processor"]) / max(1, most["batches"] - fewest["batches"])
        print(
            f"a batch adds {each_batch * 1000:.0f} ms of processor time ({fewest['batches']} against {most['batches']} batches)"
        )
    return {
        "results": results,
        "ray / own pool, wall": round(ratio, 3),
        "bar": BAR,
        "seconds for each batch": each_batch,
    }


def run(quick: bool) -> dict[str, Any]:
    return report([measure(32, 1, ("2MB",))] if quick else [measure(1024, 1, ()), measure(4096, 2, ("16MB", "256MB"))])


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.fleet", description=__doc__)
    parser.add_argument("--mb", default="1024,4096", metavar="MB,MB,…", help="sizes; the last one counts for the bar")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument(
        "--batches", default="16MB,256MB", metavar="SIZE,SIZE,…", help="sizes of batches, for what one adds"
    )
    options = parser.parse_args()
    sizes = [int(each) for each in options.mb.split(",")]
    batches = [each for each in options.batches.split(",") if each]
    found = report([measure(size, options.rounds, batches if size == sizes[-1] else ()) for size in sizes])
    results = os.path.join(os.path.dirname(os.path.abspath(__file__)), "results")
    os.makedirs(results, exist_ok=True)
    with open(os.path.join(results, "fleet.json"), "w") as stream:
        json.dump(found, stream, indent=2)


if __name__ == "__main__":
    main()
