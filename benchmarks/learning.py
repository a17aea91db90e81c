"""How long learning and provisioning take, and how much memory: on the shared corpus and on the synthetic gigabyte.

Floors in the same run: judging the same archive (what must be done before anything can be learned), and a bare start of
Python (what any command costs).
"""

import os
import sys
import tempfile
import time
from typing import Any

from benchmarks.measuring import Run, measure_run, median, synthetic_corpus
from benchmarks.real import project_folders
from preheat.app.context import known_lessons
from preheat.provisioning import provision

_RUNS, _WARM = 10, 50


def run(quick: bool, data: str = "") -> dict[str, Any]:
    result: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        result["shared corpus"] = _learning(os.path.join(folder, "shared"), project_folders(folder, data))
        result["provisioning"] = _provisioning(os.path.join(folder, "shared"))
        if not quick:
            result["1 GB synthetic"] = _learning(os.path.join(folder, "large"), [synthetic_corpus(1024)])
    return result


def _preheat(home: str, *arguments: str, watch: bool = False) -> Run:
    command = [sys.executable, "-m", "preheat", *arguments]
    return measure_run(command, {"PREHEAT_HOME": home}, watch_memory=watch)


def _learning(home: str, sources: list[str]) -> dict[str, Any]:
    _preheat(home, "sync", "--quiet", *sources)
    judging = _preheat(home, "mistakes", "--json")
    first = _preheat(home, "learn", "--quiet", watch=True)
    again = [_preheat(home, "learn", "--quiet") for _ in range(3)]
    size = os.path.getsize(os.path.join(home, "archive.db"))
    row = {
        "judging_cpu": judging.processor,
        "learning_cpu": first.processor,
        "learning_seconds": first.seconds,
        "learning_peak": first.peak,
        "ratio_to_judging": first.processor / judging.processor,
        "nothing_new_cpu": min(each.processor for each in again),
        "nothing_new_seconds": median(again),
        "archive_bytes": size,
    }
    print(f"{os.path.basename(home)}: judging and one question {judging.processor:.1f} s of processor")
    print(
        f"  learning, first run   {first.processor:6.1f} s of processor ({row['ratio_to_judging']:.1f} x that), "
        f"{first.seconds:.1f} s, peak {first.peak / 1e6:.0f} MB (bar: 60 s, 400 MB)"
    )
    print(f"  learning, nothing new {row['nothing_new_cpu']:6.2f} s of processor (bar: 2 s)")
    return row


def _provisioning(home: str) -> dict[str, Any]:
    """From the shell, and in a process that has the lessons already."""
    task = "the integration test of the login fails on the second run, find out why"
    bare = [measure_run([sys.executable, "-c", "pass"], {}) for _ in range(_RUNS)]
    cold = [_preheat(home, "warm", "start", "--project", "cli", "--task", task) for _ in range(_RUNS)]
    lessons = known_lessons(home, "cli")
    times = []
    for _ in range(_WARM):
        started = time.perf_counter()
        provision(lessons, task=task, project="cli", now=time.time())
        times.append(time.perf_counter() - started)
    read = time.perf_counter()
    known_lessons(home, "cli")
    read = time.perf_counter() - read
    row = {
        "bare_python": median(bare),
        "cold": median(cold),
        "cold_worst": max(each.seconds for each in cold),
        "ratio_to_bare_python": median(cold) / median(bare),
        "lessons": len(lessons),
        "warm": sorted(times)[len(times) // 2],
        "warm_worst": max(times),
        "reading_lessons": read,
    }
    print(
        f"provisioning from the shell {row['cold'] * 1000:.0f} ms (worst {row['cold_worst'] * 1000:.0f}; "
        f"{row['ratio_to_bare_python']:.1f} x a bare Python start; bar: 400 ms)"
    )
    print(
        f"  warm, {len(lessons)} lessons: {row['warm'] * 1000:.1f} ms (worst {row['warm_worst'] * 1000:.1f}), reading them "
        f"{read * 1000:.1f} ms (bar: 50 ms)"
    )
    return row
