"""Taking secrets out, beside reading the same bytes, one pass over them, and looking for each pattern by itself.

The corpus is the synthetic one, or the folder in `PREHEAT_BENCH_CORPUS`.
"""

import os
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.measuring import synthetic_corpus, table
from preheat.agents.sources import BLOCK_SIZE
from preheat.ingest.redact import CANDIDATES, redact

_SAMPLE = 8 << 20
"""Looking for patterns one by one is so slow that a few megabytes have to do."""
_TIMES = 3


def run(quick: bool) -> dict[str, Any]:
    corpus = os.environ.get("PREHEAT_BENCH_CORPUS") or synthetic_corpus(64 if quick else 1024)
    paths = sorted(os.path.join(folder, name) for folder, _, names in os.walk(corpus) for name in names)
    redact(b"compiled on first use")
    found: dict[str, int] = {}
    rates = {"read": [], "count": [], "redact": []}  # type: dict[str, list[float]]
    size = 0
    for _ in range(_TIMES):
        size, spent, found = _once(paths)
        for name, seconds in spent.items():
            rates[name].append(seconds)
    sample = b"".join(block for _, block in zip(range(_SAMPLE // BLOCK_SIZE), _blocks(paths), strict=False))
    patterns = [re.compile(pattern) for pattern in CANDIDATES]
    naive = _timed(lambda: [sum(1 for _ in pattern.finditer(sample)) for pattern in patterns]) / len(sample)
    return _report(size, {name: min(seconds) for name, seconds in rates.items()}, naive, found)


def _once(paths: list[str]) -> tuple[int, dict[str, float], dict[str, int]]:
    """All bytes once through everything, taking turns block by block, so that the machine's moods hit all alike."""
    spent = {"read": 0.0, "count": 0.0, "redact": 0.0}
    found: dict[str, int] = {}
    size = 0
    blocks = _blocks(paths)
    while True:
        begun = time.process_time()
        block = next(blocks, None)
        spent["read"] += time.process_time() - begun
        if block is None:
            return size, spent, found
        size += len(block)
        spent["count"] += _timed(lambda block=block: block.count(b"\n"))  # type: ignore[misc]
        begun = time.process_time()
        _, counts = redact(block)
        spent["redact"] += time.process_time() - begun
        for kind, number in counts.items():
            found[kind] = found.get(kind, 0) + number


def _blocks(paths: list[str]) -> Iterator[bytes]:
    for path in paths:
        with open(path, "rb") as stream:
            while block := stream.read(BLOCK_SIZE):
                yield block


def _timed(action: Callable[[], object]) -> float:
    begun = time.process_time()
    action()
    return time.process_time() - begun


def _report(size: int, seconds: dict[str, float], naive: float, found: dict[str, int]) -> dict[str, Any]:
    rows = [["what", "processor s", "MB/s", "redact / this", "bar"]]
    ours = seconds["redact"]
    bars = {"redact": f"<= {2.5 * size / 1e9:.2f} s"}
    for name, title in (("read", "read the bytes"), ("count", "count line ends"), ("redact", "redact")):
        spent = seconds[name]
        rate = f"{size / 1e6 / max(spent, 1e-9):,.0f}"
        rows.append([title, f"{spent:.3f}", rate, f"{ours / max(spent, 1e-9):.2f}", bars.get(name, "")])
    rows.append(
        ["each pattern by `re`", f"{naive * size:.1f} *", f"{1 / naive / 1e6:,.1f}", f"{ours / (naive * size):.4f}", ""]
    )
    table(rows)
    print(f"\n* from {_SAMPLE >> 20} MB. {size / 1e6:,.0f} MB; found: {found or 'nothing'}")
    return {
        "bytes": size,
        "seconds": {name: round(spent, 4) for name, spent in seconds.items()},
        "naive_seconds_estimated": round(naive * size, 1),
        "ratios": {
            "redact / read": round(ours / seconds["read"], 2),
            "redact / count": round(ours / seconds["count"], 2),
            "naive / redact": round(naive * size / ours, 1),
            "seconds per GB": round(ours / size * 1e9, 3),
        },
        "found": found,
    }


if __name__ == "__main__":
    run(quick=True)
