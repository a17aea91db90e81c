"""The sync beside `ccusage` (native; adds up tokens, keeps nothing) and `agentsview` (keeps sessions in SQLite), in one run.

First sync, sync with nothing new beside a bare Python start and the stat of every file, one grown session, size, memory.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from typing import Any

from benchmarks.measuring import PEERS, ROOT, Run, measure_run, median, spread, synthetic_corpus, table

GROWTH = 136_000
"""What a session grows by between two syncs, in bytes."""
_BARE = """
import os
folders = [{root!r}]
while folders:
    with os.scandir(folders.pop()) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.path)
            else:
                entry.stat()
"""


def run(quick: bool) -> dict[str, Any]:
    subprocess.run([os.path.join(ROOT, "scripts", "install-peers")], check=True)
    corpus = synthetic_corpus(64 if quick else 1024)
    work = tempfile.mkdtemp(prefix="preheat-bench-")
    try:
        return _report(_measure(corpus, work, quick))
    finally:
        shutil.rmtree(work)


def _measure(corpus: str, work: str, quick: bool) -> dict[str, Any]:
    preheat = [sys.executable, "-m", "preheat", "sync", "--quiet"]
    ccusage = [os.path.join(PEERS, "ccusage", "node_modules", ".bin", "ccusage"), "daily", "--offline"]
    agentsview = [os.path.join(PEERS, "agentsview", "bin", "agentsview"), "sync"]
    home = {"HOME": corpus, "CLAUDE_CONFIG_DIR": ""}
    archive = os.path.join(work, "archive")
    ours: list[Run] = []
    theirs: list[Run] = []
    for _ in range(3):
        theirs.append(measure_run(ccusage, home))
        shutil.rmtree(archive, ignore_errors=True)
        ours.append(measure_run(preheat, {**home, "PREHEAT_HOME": archive}))
    shutil.rmtree(archive)
    memory = measure_run(preheat, {**home, "PREHEAT_HOME": archive}, watch_memory=True)
    size = sum(os.path.getsize(os.path.join(archive, name)) for name in os.listdir(archive))
    viewed = measure_run(
        agentsview, {**home, "AGENTSVIEW_NO_DAEMON": "1", "AGENTSVIEW_DATA_DIR": os.path.join(work, "view")}
    )
    later, growth = measure_next_syncs(corpus, archive, 5 if quick else 20)
    return {
        "source_bytes": _bytes(corpus), "first_sync": ours, "ccusage": theirs, "agentsview": viewed, "memory": memory,
        "archive_bytes": size, **later, "grown_by": growth,
    }  # fmt: skip


def measure_next_syncs(corpus: str, archive: str, times: int) -> tuple[dict[str, list[Run]], int]:
    """Nothing new, and one grown session, each beside the floor, taking turns; and the bytes that the session grew by."""
    preheat = [sys.executable, "-m", "preheat", "sync", "--quiet"]
    projects = os.path.join(corpus, ".claude", "projects")
    bare = [sys.executable, "-c", _BARE.format(root=projects)]
    environment = {"HOME": corpus, "PREHEAT_HOME": archive, "CLAUDE_CONFIG_DIR": ""}
    folder = os.path.join(projects, "-home-dev-growing")
    os.makedirs(folder, exist_ok=True)
    grown = os.path.join(folder, "0f3c1a2b-5d6e-4f70-8a91-b2c3d4e5f607.jsonl")
    largest = max((os.path.join(f, n) for f, _, ns in os.walk(projects) for n in ns), key=os.path.getsize)
    with open(largest, "rb") as stream:  # other ids: a copy of what is known would be work of another kind
        lines = [line.replace(b"toolu_01", b"toolu_99").replace(b"msg_01", b"msg_99") for line in stream]
    floor: list[Run] = []
    nothing: list[Run] = []
    one: list[Run] = []
    try:
        with open(grown, "wb") as target:
            target.writelines(lines[: len(lines) // 2])
        measure_run(preheat, environment)
        place, sizes = len(lines) // 2, []
        for _ in range(times):
            floor.append(measure_run(bare, {}))
            nothing.append(measure_run(preheat, environment))
            more = _about(lines, place, GROWTH)
            place += len(more)
            sizes.append(sum(map(len, more)))
            with open(grown, "ab") as target:
                target.writelines(more)
            one.append(measure_run(preheat, environment))
    finally:
        shutil.rmtree(folder)
    return {"floor": floor, "nothing_new": nothing, "one_grown": one}, sum(sizes) // len(sizes)


def _about(lines: list[bytes], place: int, size: int) -> list[bytes]:
    """So many lines that they come to about this size."""
    end, total = place, 0
    while end < len(lines) and total < size:
        total += len(lines[end])
        end += 1
    return lines[place:end]


def _bytes(corpus: str) -> int:
    return sum(os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(corpus) for name in names)


def _report(found: dict[str, Any]) -> dict[str, Any]:
    source = found["source_bytes"]
    first, peer = median(found["first_sync"]), median(found["ccusage"])
    floor, nothing, one = (median(found[name]) for name in ("floor", "nothing_new", "one_grown"))
    viewed = found["agentsview"].seconds
    ratios = {
        "first_sync / ccusage": round(first / peer, 2),
        "agentsview / first_sync": round(viewed / first, 2),
        "archive / source": round(found["archive_bytes"] / source, 4),
        "nothing_new / (python start + stat)": round(nothing / floor, 2),
        "one_grown / nothing_new limit (3 floors)": round(one / (3 * floor), 2),
        "peak memory MB": round(found["memory"].peak / 1e6),
    }
    table(
        [
            ["what", "median s", "min..max", "ratio", "bar"],
            ["ccusage daily", f"{peer:.2f}", _span(found["ccusage"]), "", ""],
            ["first sync", f"{first:.2f}", _span(found["first_sync"]), f"{first / peer:.2f} x ccusage", "<= 6"],
            ["agentsview sync", f"{viewed:.2f}", "", f"{viewed / first:.1f} x first sync", ">= 5"],
            ["python start + stat", f"{floor:.4f}", _span(found["floor"]), "", ""],
            ["sync, nothing new", f"{nothing:.4f}", _span(found["nothing_new"]), f"{nothing / floor:.2f} x floor", "<= 3"],
            [
                f"sync, one grown by {found['grown_by'] // 1000} KB", f"{one:.4f}", _span(found["one_grown"]),
                f"{one / floor:.2f} x floor", "<= 6",
            ],
        ]
    )  # fmt: skip
    print(
        f"\n{source / 1e6:,.0f} MB of sources at {source / 1e6 / first:.0f} MB/s; archive {found['archive_bytes'] / 1e6:,.0f} MB "
        f"= {found['archive_bytes'] / source:.1%} (bar 25 %); peak memory of all processes together "
        f"{found['memory'].peak / 1e6:.0f} MB (bar 300 MB)"
    )
    plain = {
        name: {"median": round(median(runs), 4), "range": spread(runs), "n": len(runs)}
        for name, runs in found.items()
        if isinstance(runs, list)
    }
    return {
        "source_bytes": source,
        "archive_bytes": found["archive_bytes"],
        "ratios": ratios,
        "seconds": plain,
        "agentsview": viewed,
    }


def _span(runs: list[Run]) -> str:
    low, high = spread(runs)
    return f"{low:.3f}..{high:.3f}"
