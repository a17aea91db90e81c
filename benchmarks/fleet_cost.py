"""What a fleet costs for each million sessions: processor time, memory, storage, requests; fitted on generated corpora of several
sizes and checked by predicting another one.

    python -m benchmarks.fleet_cost --sizes 1024,2048,4096,8192 --predict 3072

Sizes are MB. Each size is measured in a process of its own, with tasks in our own pool of two processes (what Ray adds is
measured by `benchmarks.fleet`); processor time, so that a busy machine changes little. The corpora are made in a temporary
folder and deleted.
"""

import argparse
import json
import math
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import msgspec
import numpy
from scipy.optimize import nnls

from benchmarks.measuring import ROOT, SHARED, table
from preheat.app.fleet.analysis import Run, make_request
from preheat.app.fleet.area import BATCH, MOST
from preheat.ingest.pool import run_in_processes

WORKERS = 2
QUICK = (8, 16, 32, 64)
USUAL = (1024, 2048, 4096, 8192)
PHASES = ("read", "write", "conclude_project", "driver")
_MEGA = 1_000_000


class _Finished(NamedTuple):
    piece: Any
    result: bytes | None


class Pool:
    """Runs work in our own pool of processes, and measures the processor time of each kind of work."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self.seconds: dict[str, float] = {}
        self.pieces: dict[str, int] = {}

    def run(self, work: Callable[[Any], bytes], pieces: Iterable[Any]) -> Iterator[_Finished]:
        found = list(enumerate(pieces))
        before = _children_seconds()
        for packed in run_in_processes(partial(_work, work), found, self.workers):
            number, result = msgspec.msgpack.decode(packed)
            yield _Finished(found[number][1], result)
        name = work.__name__
        self.seconds[name] = self.seconds.get(name, 0.0) + _children_seconds() - before
        self.pieces[name] = self.pieces.get(name, 0) + len(found)


def _work(work: Callable[[Any], bytes], piece: tuple[int, Any]) -> bytes:
    return msgspec.msgpack.encode((piece[0], work(piece[1])))


def _children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


# One size.
def generate(megabytes: int, folder: str) -> str:
    """A corpus of that size; the sessions of a larger one have the same lengths, and there are more of them."""
    source = os.path.join(folder, f"corpus-{megabytes}")
    generator = os.path.join(SHARED, "tools", "generate_corpus.py")
    if not os.path.exists(generator):
        raise SystemExit("benchmarks: the corpus generator (../shared/tools) does not lie beside the checkout")
    subprocess.run([sys.executable, generator, source, "--mb", str(megabytes)], check=True, stdout=subprocess.DEVNULL)
    return source


def measure(source: str, destination: str) -> dict[str, Any]:
    """What a first run over a source costs, by phase."""
    pool = Pool(WORKERS)
    started, driver = time.perf_counter(), time.process_time()
    run = Run(make_request(source, destination, BATCH, MOST, 0), pool).analyse()
    stored = {name: _bytes_below(os.path.join(destination, name)) for name in sorted(os.listdir(destination))}
    return {
        "bytes": run.bytes,
        "sessions": run.sessions,
        "calls": run.calls,
        "partitions": run.rewritten,
        "batches": run.batches,
        "cpu": {name: round(value, 3) for name, value in {**pool.seconds, "driver": time.process_time() - driver}.items()},
        "wall": round(time.perf_counter() - started, 1),
        "worker_peak": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024,
        "driver_peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "stored": stored,
        "requests": run.requests,
        "problems": len(run.problems),
    }  # fmt: skip


def _bytes_below(folder: str) -> int:
    return sum(os.path.getsize(os.path.join(parent, name)) for parent, _, names in os.walk(folder) for name in names)


def measure_size(megabytes: int, work: str) -> dict[str, Any]:
    """Make a corpus, measure it in a process of its own, and delete it."""
    source = generate(megabytes, work)
    destination = os.path.join(work, f"out-{megabytes}")
    try:
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.fleet_cost", "--measure", source, destination],
            cwd=ROOT, check=True, capture_output=True, text=True,
        )  # fmt: skip
        found: dict[str, Any] = json.loads(done.stdout)
    finally:
        shutil.rmtree(source, ignore_errors=True)
        shutil.rmtree(destination, ignore_errors=True)
    print(f"{megabytes} MB: {json.dumps(found)}", flush=True)
    return found


# The model.
def quantities(found: dict[str, Any]) -> dict[str, float]:
    """The quantities that are modelled, of one run."""
    return {
        **{f"cpu s, {name}": found["cpu"].get(name, 0.0) for name in PHASES},
        "cpu s": sum(found["cpu"].values()),
        "stored MB": sum(found["stored"].values()) / _MEGA,
        "get requests": found["requests"].get("get", 0),
        "put requests": found["requests"].get("put", 0),
        "driver peak MB": found["driver_peak"] / _MEGA,
        "worker peak MB": found["worker_peak"] / _MEGA,
    }


def fit(runs: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """For each quantity: a fixed part, one for each million sessions, and one for each thousand partitions (a project on a day),
    none of them negative; and the power of the sessions that fits it best (1: it is in proportion to them)."""
    sessions = numpy.array([run["sessions"] for run in runs], dtype=float)
    partitions = numpy.array([run["partitions"] for run in runs], dtype=float)
    found = {}
    for name in quantities(runs[0]):
        values = numpy.array([quantities(run)[name] for run in runs], dtype=float)
        # Weighed by their size: an error of a tenth counts the same in a small run and in a large one.
        columns = numpy.stack([numpy.ones_like(sessions), sessions, partitions], axis=1) / values[:, None]
        (fixed, each, partition), _ = nnls(columns, numpy.ones_like(values))
        power = numpy.polyfit(numpy.log(sessions), numpy.log(values), 1)[0]
        found[name] = {
            "fixed": float(fixed),
            "per_million": float(each) * _MEGA,
            "per_thousand_partitions": float(partition) * 1000,
            "power": float(power),
        }
    return found


def predict(model: dict[str, dict[str, float]], sessions: int, partitions: int) -> dict[str, float]:
    """What a run over so many sessions in so many partitions costs."""
    return {
        name: each["fixed"]
        + each["per_million"] * sessions / _MEGA
        + each["per_thousand_partitions"] * partitions / 1000
        for name, each in model.items()
    }


def compare(sizes: tuple[int, ...], other: int) -> dict[str, Any]:
    """Fit on the sizes, and predict the other one."""
    work = tempfile.mkdtemp(prefix="preheat-cost-")
    try:
        runs = [measure_size(size, work) for size in sizes]
        model = fit(runs)
        checked = measure_size(other, work)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    expected, real = predict(model, checked["sessions"], checked["partitions"]), quantities(checked)
    rows = [
        [
            "quantity",
            *(f"{size} MB" for size in sizes),
            "fixed",
            "a million sessions",
            "1,000 partitions",
            "power",
            f"{other} MB predicted",
            "measured",
            "error",
        ]
    ]
    errors = {}
    for name, each in model.items():
        errors[name] = (expected[name] - real[name]) / real[name] if real[name] else math.nan
        numbers = [each["fixed"], each["per_million"], each["per_thousand_partitions"]]
        rows.append(
            [
                name,
                *(f"{quantities(run)[name]:,.1f}" for run in runs),
                *(f"{number:,.1f}" for number in numbers),
                *(f"{each['power']:.2f}", f"{expected[name]:,.1f}", f"{real[name]:,.1f}", f"{errors[name]:+.1%}"),
            ]
        )
    table(rows)
    return {"sizes": sizes, "runs": runs, "model": model, "checked": {"size": other, **checked}, "errors": errors}


def run(quick: bool) -> dict[str, Any]:
    return compare(QUICK, 48) if quick else compare(USUAL, 3072)


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.fleet_cost", description=__doc__)
    parser.add_argument("--sizes", default=",".join(map(str, USUAL)), metavar="MB,MB,…")
    parser.add_argument("--predict", type=int, default=3072, metavar="MB")
    parser.add_argument("--measure", nargs=2, metavar=("SOURCE", "DEST"), help="one run; prints JSON")
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(*options.measure)))
        return
    found = compare(tuple(int(each) for each in options.sizes.split(",")), options.predict)
    results = os.path.join(os.path.dirname(os.path.abspath(__file__)), "results")
    os.makedirs(results, exist_ok=True)
    with open(os.path.join(results, "fleet_cost.json"), "w") as stream:
        json.dump(found, stream, indent=2)


if __name__ == "__main__":
    main()
