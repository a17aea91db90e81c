"""The whole way from nothing to lessons, beside `ccusage` (native; adds up tokens, keeps nothing) in one run, and what is next.

On the gigabyte of synthetic sessions: a first sync and learning together, the memory of all processes and of the largest one, a
sync with nothing new and one with a grown session beside a bare Python start. On the shared sessions (about a thousand; `--data`
takes others): what learning, `mistakes` and `profile` cost right after a sync, each on an archive that nobody asked before.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from typing import Any

from benchmarks.measuring import PEERS, ROOT, Run, measure_run, median, spread, synthetic_corpus, table
from benchmarks.real import project_folders
from benchmarks.sync import measure_next_syncs

BARS = {"whole / ccusage": 10.0, "peak memory MB": 350.0, "learn": 3.0, "mistakes": 1.0, "profile": 1.0}
"""Times the peer's time; megabytes; seconds of processor time."""
ASKED = {"learn": ("learn", "--quiet"), "mistakes": ("mistakes", "--json"), "profile": ("profile", "--json")}


def run(quick: bool, data: str = "") -> dict[str, Any]:
    subprocess.run([os.path.join(ROOT, "scripts", "install-peers")], check=True)
    work = tempfile.mkdtemp(prefix="preheat-bench-")
    try:
        whole = _whole(synthetic_corpus(64 if quick else 1024), work, quick)
        return {"bars": BARS, "whole": whole, "after_a_sync": _after_a_sync(os.path.join(work, "shared"), data, quick)}
    finally:
        shutil.rmtree(work)


def _preheat(home: str, archive: str, *words: str, watch: bool = False) -> Run:
    environment = {"HOME": home, "CLAUDE_CONFIG_DIR": "", "PREHEAT_HOME": archive}
    return measure_run([sys.executable, "-m", "preheat", *words], environment, watch_memory=watch)


# From nothing to lessons.
def _whole(corpus: str, work: str, quick: bool) -> dict[str, Any]:
    ccusage = [os.path.join(PEERS, "ccusage", "node_modules", ".bin", "ccusage"), "daily", "--offline"]
    archive = os.path.join(work, "archive")
    theirs: list[Run] = []
    syncs: list[Run] = []
    learns: list[Run] = []
    for _ in range(1 if quick else 3):
        theirs.append(measure_run(ccusage, {"HOME": corpus, "CLAUDE_CONFIG_DIR": ""}))
        shutil.rmtree(archive, ignore_errors=True)
        syncs.append(_preheat(corpus, archive, "sync", "--quiet"))
        learns.append(_preheat(corpus, archive, "learn", "--quiet"))
    later, _ = measure_next_syncs(corpus, archive, 5 if quick else 20)
    shutil.rmtree(archive)
    watched = {name: _preheat(corpus, archive, name, "--quiet", watch=True) for name in ("sync", "learn")}
    return _report({"ccusage": theirs, "sync": syncs, "learn": learns}, later, watched)


def _report(found: dict[str, list[Run]], later: dict[str, list[Run]], watched: dict[str, Run]) -> dict[str, Any]:
    peer = median(found["ccusage"])
    both = [Run(one.seconds + two.seconds, 0.0, 0) for one, two in zip(found["sync"], found["learn"], strict=True)]
    together, largest = (max(getattr(each, field) for each in watched.values()) for field in ("peak", "largest"))
    rows = [["what", "median s", "min..max", "ratio", "bar"]]
    rows += [
        ["ccusage daily", f"{peer:.2f}", _span(found["ccusage"]), "", ""],
        ["  first sync", f"{median(found['sync']):.2f}", _span(found["sync"]), _times(median(found["sync"]), peer), ""],
        ["  learn", f"{median(found['learn']):.2f}", _span(found["learn"]), _times(median(found["learn"]), peer), ""],
        ["from nothing to lessons", f"{median(both):.2f}", _span(both), f"{_times(median(both), peer)} ccusage",
         f"<= {BARS['whole / ccusage']:g}"],
    ]  # fmt: skip
    floor = median(later["floor"])
    for name, shown in ("nothing_new", "sync, nothing new"), ("one_grown", "sync, one session grown"):
        took = median(later[name])
        rows.append([shown, f"{took:.4f}", _span(later[name]), f"{_times(took, floor)} Python start + stat", ""])
    table(rows)
    print(
        f"peak memory: all processes together {together / 1e6:.0f} MB, the largest {largest / 1e6:.0f} MB "
        f"(bar {BARS['peak memory MB']:g} MB)"
    )
    return {
        "seconds": {name: {"median": median(runs), "range": spread(runs)} for name, runs in (found | later).items()},
        "whole": median(both), "ratio_to_ccusage": median(both) / peer, "peak_together": together, "peak_largest": largest,
        "peaks": {name: [each.peak, each.largest] for name, each in watched.items()},
        "processor": {name: min(each.processor for each in runs) for name, runs in found.items()},
    }  # fmt: skip


def _span(runs: list[Run]) -> str:
    low, high = spread(runs)
    return f"{low:.3f}..{high:.3f}"


def _times(took: float, floor: float) -> str:
    return f"{took / floor:.1f} x"


# What is asked after a sync.
def _after_a_sync(work: str, data: str, quick: bool) -> dict[str, Any]:
    os.makedirs(work)
    kept = os.path.join(work, "kept")
    sync = _preheat(work, kept, "sync", "--quiet", *project_folders(work, data))
    rows = [["right after a sync", "s of processor", "s", "bar: s of processor"]]
    rows.append(["  sync", f"{sync.processor:.2f}", f"{sync.seconds:.2f}", ""])
    result: dict[str, Any] = {"sync": sync._asdict()}
    archive = os.path.join(work, "archive")
    for name, words in ASKED.items():
        runs = []
        for _ in range(1 if quick else 3):
            shutil.rmtree(archive, ignore_errors=True)
            shutil.copytree(kept, archive)
            runs.append(_preheat(work, archive, *words))
        processor = min(each.processor for each in runs)
        rows.append([f"  {name}", f"{processor:.2f}", f"{median(runs):.2f}", f"<= {BARS[name]:g}"])
        result[name] = {"processor": processor, "seconds": median(runs), "within_bar": processor <= BARS[name]}
    print()
    table(rows)
    return result
