"""The pages on an archive of a million calls: the server's time for a page and a search, when slow values are there, memory.

The archive is made of some thousand real rows: 40 generated sessions are read and analysed as always, and their rows are copied
with other ids, days and projects until there are enough calls.
"""

import http.client
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import preheat
from benchmarks.measuring import table
from preheat.archive.connect import connect
from preheat.archive.packing import unpack_passages
from preheat.model.listing import SessionFilter
from preheat.testing.builders import ClaudeTranscript

SESSIONS, CALLS = 40, 100
COPIES = 250
"""40 sessions of 100 calls, 250 times: a million calls in 10,000 sessions."""
ROUNDS = 20
PAGE_BAR, SEARCH_BAR, MEMORY_BAR = 200.0, 150.0, 200e6
DAY = 86400.0
_WORDS = [
    "migration", "invoice", "login", "export", "parser", "socket", "retry", "ledger", "schema", "worker", "cache",
    "token", "render", "layout", "filter", "upload", "billing", "customer", "refund", "webhook", "queue", "deploy",
    "rollback", "index", "cursor", "session", "profile", "header", "footer", "button", "dialog",
]  # fmt: skip
_SEARCHES = (
    "mig",
    "migration",
    "migration retry",
    "invoice par",
    "ledger schema wor",
    "tests",
    "uv run pytest",
    "step",
)


def run(quick: bool) -> dict[str, Any]:
    folder = tempfile.mkdtemp(prefix="preheat-bench-")
    try:
        home = make_archive(folder, 5 if quick else COPIES)
        found = _measure(home, 5 if quick else ROUNDS)
    finally:
        shutil.rmtree(folder)
    _report(found)
    return found


# The archive.
def make_archive(folder: str, copies: int) -> str:
    """An archive of so many copies of the generated sessions; its folder."""
    home = os.path.join(folder, "home")
    os.makedirs(home, mode=0o700)
    chance = random.Random(22)
    files = []
    for number in range(SESSIONS):
        path = os.path.join(folder, f"{number}.jsonl")
        with open(path, "wb") as stream:
            stream.write(_make_session(number, chance).data())
        files.append(("claude_code", path))
    own = preheat.open(home)
    own.sync(files)
    own.learn()
    connect(home).close()
    with sqlite3.connect(os.path.join(home, "archive.db")) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        for copy in range(1, copies):
            _copy_rows(connection, copy)
    connection.close()
    return home


def _make_session(number: int, chance: random.Random) -> ClaudeTranscript:
    name = f"{number:08x}-2222-4000-8000-000000000000"
    project = f"/home/dev/shop{number % 5}"
    work = ClaudeTranscript(session=name, project=project, started=time.time() - number * DAY / 4)
    work = work.prompt(f"Make step {number} of the {chance.choice(_WORDS)} work")
    for call in range(CALLS // 4):
        words = " ".join(chance.choices(_WORDS, k=8))
        path = f"{project}/src/{chance.choice(_WORDS)}.py"
        if call % 10 == 9:
            work = work.prompt(f"Now the {words}")
        work = work.answer(f"I look at {words}.").call("Read", {"file_path": path}).result(f"1\t{words}\n2\tpass")
        edit = {"file_path": path, "old_string": chance.choice(_WORDS), "new_string": words}
        is_missing = chance.random() < 0.2
        said = "String to replace not found in file." if is_missing else "The file has been updated."
        work = work.answer("I change it.").call("Edit", edit).result(said, is_error=is_missing)
        if chance.random() < 0.2:
            work = work.answer("Tests.").run("pytest tests", "bash: pytest: command not found", 127)
        else:
            work = work.answer("Lines.").run(f"rg {chance.choice(_WORDS)}", words)
        work = work.answer("Again.").run("uv run pytest tests", f"{call} passed")
    return work.answer("Done.")


def _copy_rows(connection: sqlite3.Connection, copy: int) -> None:
    """Copy the rows of all first sessions, as sessions of other ids, some days earlier."""
    shift, back = copy * 1_000_000, copy * DAY * 2 / 3
    last = connection.execute("SELECT max(id) FROM sessions WHERE id < 1000000").fetchone()[0]
    replaced = {
        "sources": {"id": f"id + {shift}", "path": f"path || '.{copy}'"},
        "segments": {"source_id": f"source_id + {shift}"},
        "sessions": {
            "id": f"id + {shift}", "key": f"key || '-{copy}'", "session": f"session || '-{copy}'",
            "source_id": f"source_id + {shift}", "started_at": f"started_at - {back}", "ended_at": f"ended_at - {back}",
            "project": f"project || '{copy % 4}'",
        },
        "calls": {"session_id": f"session_id + {shift}", "at": f"at - {back}", "ended_at": f"ended_at - {back}"},
        "responses": {"session_id": f"session_id + {shift}", "at": f"at - {back}"},
        "judgements": {"session_id": f"session_id + {shift}", "source_id": f"source_id + {shift}"},
        "profiles": {"session_id": f"session_id + {shift}"},
        "episodes": {"session_id": f"session_id + {shift}"},
        "outcomes": {"session_id": f"session_id + {shift}"},
        "notes": {"session_id": f"session_id + {shift}"},
        "places": {"session_id": f"session_id + {shift}"},
    }  # fmt: skip
    for name, changes in replaced.items():
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({name})")]
        key = "id" if name in ("sources", "sessions") else next(iter(changes))
        values = ", ".join(changes.get(column, column) for column in columns)
        connection.execute(
            f"INSERT INTO {name} ({', '.join(columns)}) SELECT {values} FROM {name} WHERE {key} <= {last}"
        )
    first = connection.execute("SELECT max(id + count) FROM passages").fetchone()[0]
    rows = connection.execute("SELECT count, session_id, data FROM passages WHERE session_id <= ? ORDER BY id", (last,))
    for count, session, data in rows.fetchall():
        connection.execute("INSERT INTO passages VALUES (?, ?, ?, ?)", (first, count, session + shift, data))
        texts = [each.text for each in unpack_passages(data)]
        connection.executemany("INSERT INTO passages_index (rowid, text) VALUES (?, ?)", enumerate(texts, first))
        first += count
    connection.commit()


# Measuring.
class _Reader:
    """A browser as the server sees it."""

    def __init__(self, link: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", int(link.split(":")[2].split("/")[0]))
        self._cookie = ""
        self._enter(link[link.index("/enter") :])

    def _enter(self, path: str) -> None:
        self._connection.request("GET", path)
        answer = self._connection.getresponse()
        answer.read()
        self._cookie = (answer.headers["Set-Cookie"] or "").split(";")[0]

    def read(self, path: str) -> tuple[float, float, int, bool]:
        """Milliseconds in the server by the clock and of its processor, bytes sent, and whether everything was there."""
        self._connection.request("GET", path, headers={"Cookie": self._cookie})
        answer = self._connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{path}: {answer.status} {body[:500]!r}")
        taken, worked = (float(each.partition("dur=")[2]) for each in answer.headers["Server-Timing"].split(","))
        return taken, worked, len(body), b'class="waiting" role="status"' not in body


def _measure(home: str, rounds: int) -> dict[str, Any]:
    sessions = preheat.open(home).archive.sessions(SessionFilter())
    keys = [quote(each.key) for each in sessions[:: max(1, len(sessions) // 20)]]
    whole = [
        quote(each.key) for each in sessions if each.session.endswith("0000")
    ]  # the copies have no bytes of their own
    pages: dict[str, Sequence[str]] = {
        "home": ["/"], "sessions": ["/sessions", "/sessions?order=failed", "/sessions?start=5000", "/sessions?since=30d"],
        "session": [f"/session?name={key}" for key in keys],
        "transcript": [f"/session/transcript?name={key}" for key in whole[:20]],
        "signals": [f"/session/signals?name={key}" for key in whole[:20]], "mistakes": ["/mistakes"],
        "lessons": ["/lessons?show=all"], "effect": ["/effect"], "projects": ["/projects"], "settings": ["/settings"],
        "health": ["/health"],
    }  # fmt: skip
    environment = {**os.environ, "PREHEAT_HOME": home, "HOME": os.path.dirname(home)}
    command = [sys.executable, "-m", "preheat", "open", "--no-browser", "--json"]
    found: dict[str, Any] = {
        "calls": sum(each.calls for each in sessions), "sessions": len(sessions), "pages": {},
        "archive_bytes": os.path.getsize(os.path.join(home, "archive.db")),
    }  # fmt: skip
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            reader = _Reader(json.loads(process.stdout.readline())["url"])
            for name, paths in pages.items():
                found["pages"][name] = _measure_page(reader, paths, rounds)
            for words in _SEARCHES:
                reader.read(f"/sessions?part=1&words={quote(words)}")
            found["search"] = _measure_page(
                reader, [f"/sessions?part=1&words={quote(words)}" for words in _SEARCHES], rounds * 2
            )
            found["memory"] = _memory(process.pid)
        finally:
            process.terminate()
    return found


def _measure_page(reader: _Reader, paths: Sequence[str], rounds: int) -> dict[str, float]:
    """Times of a page, from the first request on; `filled` is when its slow values were there, in seconds."""
    begun, times, worked = time.perf_counter(), [], []
    while True:
        taken, processor, weight, is_filled = reader.read(paths[0])
        times.append(taken)
        worked.append(processor)
        if is_filled:
            break
        time.sleep(0.5)
    filled = time.perf_counter() - begun
    for place in range(rounds):
        taken, processor, size, _ = reader.read(paths[place % len(paths)])
        times.append(taken)
        worked.append(processor)
        weight = max(weight, size)
    return {
        "median_ms": _quantile(times, 0.5), "p95_ms": _quantile(times, 0.95), "processor_ms": _quantile(worked, 0.95),
        "filled_s": filled, "bytes": float(weight),
    }  # fmt: skip


def _quantile(values: list[float], share: float) -> float:
    return sorted(values)[round(share * (len(values) - 1))]


def _memory(process: int) -> int:
    """Bytes of memory that a process has at most had."""
    with open(f"/proc/{process}/status", encoding="ascii") as stream:
        return next(int(line.split()[1]) * 1024 for line in stream if line.startswith("VmHWM"))


def _report(found: dict[str, Any]) -> None:
    print(f"{found['calls']:,} calls, archive {found['archive_bytes'] / 1e6:,.0f} MB")
    rows = [["page", "median ms", "p95 ms", "bar", "", "processor p95 ms", "slow values after s", "KB"]]
    bars = dict.fromkeys(found["pages"], PAGE_BAR) | {"search": SEARCH_BAR}
    for name, each in {**found["pages"], "search": found["search"]}.items():
        numbers = [f"{each[column]:.0f}" for column in ("median_ms", "p95_ms")]
        met = "met" if each["p95_ms"] <= bars[name] else "MISSED"
        more = [f"{each['processor_ms']:.0f}", f"{each['filled_s']:.1f}", f"{each['bytes'] / 1000:.0f}"]
        rows.append([name, *numbers, f"{bars[name]:.0f}", met, *more])
    table(rows)
    print(f"memory {found['memory'] / 1e6:.0f} MB at most (bar {MEMORY_BAR / 1e6:.0f})")
