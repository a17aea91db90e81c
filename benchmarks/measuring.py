"""Runs programs and measures them: wall time, processor time, and the memory of the whole process tree."""

import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from typing import NamedTuple

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SHARED = os.path.join(os.path.dirname(ROOT), "shared")
PEERS = os.path.join(ROOT, ".agents", "peers")


class Run(NamedTuple):
    """What one run of a program took."""

    seconds: float
    processor: float
    peak: int
    """Bytes of private memory of all its processes together, at the highest moment seen."""
    largest: int = 0
    """The same of the process that had the most."""


def measure_run(command: Sequence[str], environment: dict[str, str], watch_memory: bool = False) -> Run:
    """Run a program with these variables set; empty ones are taken away."""
    before = os.times()
    started = time.perf_counter()
    # Byte code is kept, as it is wherever a program is installed and not developed.
    variables = {**os.environ, **environment, "PYTHONDONTWRITEBYTECODE": ""}
    process = subprocess.Popen(
        command,
        env={name: value for name, value in variables.items() if value},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    peaks = [0, 0]
    if watch_memory:
        watcher = threading.Thread(target=_watch, args=(process, peaks))
        watcher.start()
    _, errors = process.communicate()
    seconds = time.perf_counter() - started
    if watch_memory:
        watcher.join()
    after = os.times()
    if process.returncode not in (0, 1):
        raise RuntimeError(f"{command[0]} ended with {process.returncode}: {errors.decode()[-400:]}")
    processor = after.children_user + after.children_system - before.children_user - before.children_system
    return Run(seconds, processor, peaks[0], peaks[1])


def _watch(process: "subprocess.Popen[bytes]", peaks: list[int]) -> None:
    while process.poll() is None:
        sizes = [_private(pid) for pid in _tree(process.pid)]
        peaks[:] = max(peaks[0], sum(sizes)), max(peaks[1], *sizes)
        time.sleep(0.02)


def _tree(pid: int) -> list[int]:
    found = [pid]
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children") as stream:
                for child in stream.read().split():
                    found += _tree(int(child))
    except OSError:
        pass
    return found


def _private(pid: int) -> int:
    """Proportional set size: pages shared between processes are split among them."""
    try:
        with open(f"/proc/{pid}/smaps_rollup") as stream:
            return next(int(line.split()[1]) * 1024 for line in stream if line.startswith("Pss:"))
    except (OSError, StopIteration):
        return 0


def describe_origin() -> str:
    """The date and the commit of a measurement, for the page that shows it; says so if the checkout has other changes."""
    commit = subprocess.check_output(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], text=True).strip()
    changes = subprocess.check_output(
        ["git", "-C", ROOT, "status", "--porcelain", "--untracked-files=no", "--", "src"], text=True
    )
    return f"{time.strftime('%Y-%m-%d')}, commit {commit}{' with changes' if changes.strip() else ''}"


def median(runs: Sequence[Run]) -> float:
    return statistics.median(run.seconds for run in runs)


def spread(runs: Sequence[Run]) -> list[float]:
    return [round(min(run.seconds for run in runs), 4), round(max(run.seconds for run in runs), 4)]


def table(rows: Sequence[Sequence[str]]) -> None:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def synthetic_corpus(megabytes: int) -> str:
    """The synthetic corpus of that size, made once and kept beside the other programs."""
    root = os.path.join(ROOT, ".agents", f"corpus-{megabytes}")
    if not os.path.isdir(root):
        generator = os.path.join(SHARED, "tools", "generate_corpus.py")
        if not os.path.exists(generator):
            raise SystemExit("benchmarks: the corpus generator (../shared/tools) does not lie beside the checkout")
        print(f"making {megabytes} MB of synthetic sessions …", flush=True)
        subprocess.run(
            [sys.executable, generator, root + ".new", "--mb", str(megabytes)], check=True, stdout=subprocess.DEVNULL
        )
        os.rename(root + ".new", root)
    return root
