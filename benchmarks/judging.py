"""Judging the archive of 1 GB of sessions, each stage beside the floor (only loading them); a report over a million calls.

Calls per second are per core: processor time of one process. The real sessions of the shared corpus are measured beside the
synthetic ones where they are there.
"""

import gc
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from benchmarks.measuring import SHARED, measure_run, synthetic_corpus, table
from benchmarks.real import PROJECTS, project_folders
from preheat.app.analysis.one_pass import rows_of
from preheat.archive import analyses
from preheat.archive.connect import connect
from preheat.ingest import stored_sessions
from preheat.ingest.stored_sessions import read_stored_sessions
from preheat.model.analysis import Analysis
from preheat.outcomes import judge
from preheat.profiles import profile_session, trace

BAR = 50_000
"""Calls that one core judges and profiles in a second."""
MILLION = 1_000_000
_LOADING = ("gather", "unpack", "read")
_JUDGING = ("judge", "trace", "profile")
_STORING = ("encode", "store")
_WHOLE = "import sys; from preheat.app.analysis.one_pass import analyse_archive; analyse_archive(sys.argv[1])"
_ASKING = """
import sys
from preheat.archive.connect import connect
from preheat.archive.judgements import judged_calls, judged_sessions
from preheat.model.listing import SessionFilter
connection = connect(sys.argv[1])
"""
_STREAM = f"{_ASKING}for fact in judged_calls(connection, SessionFilter()): pass"
_REPORT = f"""{_ASKING}
from preheat.profiles.population import measure_population
measure_population(judged_sessions(connection, SessionFilter()), judged_calls(connection, SessionFilter()))
"""


def run(quick: bool, data: str = "") -> dict[str, Any]:
    work = tempfile.mkdtemp(prefix="preheat-bench-")
    try:
        found = {"synthetic": _archive(synthetic_corpus(64 if quick else 1024), os.path.join(work, "synthetic"))}
        if data or (not quick and os.path.isdir(os.path.join(SHARED, PROJECTS))):
            found["real"] = _real(os.path.join(work, "real"), data)
        return {"archives": found, "report": _report(os.path.join(work, "many"), MILLION // (10 if quick else 1))}
    finally:
        shutil.rmtree(work)


# Judging.
def _archive(corpus: str, folder: str) -> dict[str, Any]:
    sync = [sys.executable, "-m", "preheat", "sync", "--quiet"]
    measure_run(sync, {"HOME": corpus, "CLAUDE_CONFIG_DIR": "", "PREHEAT_HOME": folder})
    return _judged("synthetic sessions", folder)


def _real(folder: str, data: str) -> dict[str, Any]:
    sync = [sys.executable, "-m", "preheat", "sync", "--quiet", *project_folders(folder, data)]
    measure_run(sync, {"HOME": folder, "PREHEAT_HOME": os.path.join(folder, "archive")})
    return _judged("real sessions", os.path.join(folder, "archive"))


def _judged(name: str, folder: str) -> dict[str, Any]:
    whole = measure_run([sys.executable, "-c", _WHOLE, folder], {}, watch_memory=True)
    again = measure_run([sys.executable, "-c", _WHOLE, folder], {})
    calls, seconds = _stages(folder)
    parts = {part: sum(seconds[stage] for stage in stages) for part, stages in _PARTS.items()}
    rows = [["what", "s", "calls/s per core", "x loading", "bar"]]
    for part, stages in _PARTS.items():
        rows += [[f"  {stage}", f"{seconds[stage]:.2f}", f"{calls / seconds[stage]:,.0f}", "", ""] for stage in stages]
        bar = f">= {BAR:,}" if part == "judging and profiling" else ""
        ratio = f"{parts[part] / parts['loading']:.2f}"
        rows.append([part, f"{parts[part]:.2f}", f"{calls / parts[part]:,.0f}", ratio, bar])
    total = sum(parts.values())
    rows.append(["together", f"{total:.2f}", f"{calls / total:,.0f}", f"{total / parts['loading']:.2f}", ""])
    print(f"\n{name}: {calls:,} calls")
    table(rows)
    print(
        f"the whole, with all cores: {whole.seconds:.2f} s ({whole.processor:.2f} s of processor), peak memory of all "
        f"processes {whole.peak / 1e6:.0f} MB; again with nothing new: {again.seconds:.2f} s"
    )
    return {
        "calls": calls, "seconds": seconds, "calls_per_second": {part: calls / parts[part] for part in parts},
        "ratio_to_loading": {part: parts[part] / parts["loading"] for part in parts}, "whole": whole._asdict(),
        "nothing_new": again._asdict(),
    }  # fmt: skip


_PARTS = {"loading": _LOADING, "judging and profiling": _JUDGING, "storing": _STORING}


def _stages(folder: str) -> tuple[int, dict[str, float]]:
    """Everything in one process, each stage by its own clock; the version is one that has judged nothing."""
    seconds = dict.fromkeys((*_LOADING, *_JUDGING, *_STORING), 0.0)
    calls = 0

    @contextmanager
    def clocked(stage: str) -> Iterator[None]:
        started = time.process_time()
        yield
        seconds[stage] += time.process_time() - started

    connection = connect(folder)
    gc.disable()
    for units in analyses.find_pending(connection, "benchmark").groups:
        with clocked("gather"):
            group = analyses.load_group(connection, units)
        packs = stored_sessions.UnpackedPacks(group.packs)
        verdicts = []
        for unit, stretches in zip(group.sources, group.slices, strict=True):
            with clocked("unpack"):
                for stretch in stretches:
                    packs.unpack(stretch.pack)
            with clocked("read"):
                sessions = read_stored_sessions(unit.agent, unit.path, unit.part, packs.read_slices(stretches))
            wanted = {session.key: session for session in unit.sessions}
            for session in sessions:
                if (unjudged := wanted.get(f"{session.agent}:{session.id}")) is None:
                    continue
                with clocked("judge"):
                    outcomes = judge(session)
                with clocked("trace"):
                    records = trace(session, outcomes)
                with clocked("profile"):
                    measures = profile_session(session, outcomes, records)
                with clocked("encode"):
                    verdicts.append(analyses.AnalysedSession(unjudged, rows_of(Analysis(records, measures, (), ()))))
                calls += len(records)
        with clocked("store"), connection.transaction():
            analyses.store_analyses(connection, verdicts)
    gc.enable()
    connection.close()
    return calls, seconds


# The report.
def _report(folder: str, calls: int) -> dict[str, Any]:
    _many(folder, calls)
    stream = measure_run([sys.executable, "-c", _STREAM, folder], {}, watch_memory=True)
    report = measure_run([sys.executable, "-c", _REPORT, folder], {}, watch_memory=True)
    print(f"\nthe report over {calls:,} calls of an archive, with the start of the program")
    table(
        [
            ["what", "s of processor", "calls/s", "peak MB", "bar"],
            ["only asking", f"{stream.processor:.2f}", f"{calls / stream.processor:,.0f}", _mb(stream.peak), ""],
            [
                "the population",
                f"{report.processor:.2f}",
                f"{calls / report.processor:,.0f}",
                _mb(report.peak),
                "<= 10 s",
            ],
        ]
    )
    return {"calls": calls, "asking": stream._asdict(), "population": report._asdict()}


def _mb(size: int) -> str:
    return f"{size / 1e6:.0f}"


def _many(folder: str, calls: int) -> None:
    """An archive with so many judged calls, made row by row: lengths and failures as real sessions have them, drawn."""
    chance = random.Random(7)
    connection = connect(folder)
    with connection.transaction():
        connection.execute("INSERT INTO sources VALUES (1, 'agent', 'path', '', '', 1, 0, 0)")
        connection.executemany(
            "INSERT INTO purposes VALUES (?, ?, ?, ?, ?)",
            [(number, f"tool{number}", "shell", f"shell:{number}", number == 3) for number in range(1, 25)],
        )
        connection.executemany(
            "INSERT INTO signatures VALUES (?, ?)",
            [(number, f"a message of some length, number {number}") for number in range(1, 5001)],
        )
        session = 0
        while calls:
            length = min(calls, chance.choice((4, 12, 25, 40, 60, 90, 150, 400)))
            calls -= length
            session += 1
            _session(connection, session, length, chance)
    connection.close()


def _session(connection: Any, session: int, calls: int, chance: random.Random) -> None:
    connection.execute(
        "INSERT INTO sessions VALUES (?, ?, 'agent', ?, 1, 0, '', ?, ?, '', NULL, NULL, ?, ?, 'human', '', '', ?, 1, ?, ?, 0, "
        "0, 0, 0, 0, 0)",
        (
            session, f"agent:{session}", str(session), f"model {session % 5}", f"/project/{session % 40}", float(session),
            float(session + calls), 4 * calls, 3 * calls, calls,
        ),
    )  # fmt: skip
    connection.execute("INSERT INTO judgements VALUES (?, 'benchmark', 1, 0, ?)", (session, 4 * calls))
    connection.executemany(
        "INSERT INTO calls VALUES (?, ?, ?, ?, 0, 'tool', 'shell', 'a command as people write them', ?, ?, 0, 0, 900, ?)",
        [
            (session, seq, f"call-{session}-{seq}", seq, float(seq), seq + 0.5, chance.random() < 0.01)
            for seq in range(calls)
        ],
    )
    connection.executemany(
        f"INSERT INTO outcomes VALUES ({', '.join('?' * 17)})", [_outcome(session, seq, chance) for seq in range(calls)]
    )


def _outcome(session: int, seq: int, chance: random.Random) -> tuple[Any, ...]:
    failed = chance.random() < 0.09
    cause, signature = (chance.randrange(4), chance.randint(1, 5000)) if failed else (None, None)
    recovered = chance.choice((None, 1, 2)) if failed else None
    return (
        session, seq, 3 * seq + 1, seq // 200, chance.randint(1, 24), int(failed), 0, cause, int(failed), signature, 0.98,
        chance.random() < 0.1, chance.random() < 0.05, 1.5, 2.25 * failed, 300 * failed, recovered,
    )  # fmt: skip
