"""Floods: far more events a second than a machine's agents cause, and far more sessions than a machine has, live and archived.

The daemon is a real one on its real socket; the events come from a process of their own. Nothing may be lost without being
counted, the daemon's memory has a limit, what comes before a call is answered meanwhile, and afterwards all is as before.
"""

import json
import os
import subprocess
import sys
import threading
import time
from typing import Any

from preheat import daemon_client
from preheat.app.live.running import load_session, session_files
from preheat.daemon.sessions import MOST, MOST_FILES
from preheat.testing.builders import ClaudeTranscript
from tests.attacks.attack import AttackResult, Progress, Size, percentile
from tests.attacks.flood_client import LIMIT, Order
from tests.attacks.processes import CHECKOUT, Home, RunningDaemon, running_daemon, wait_for
from tests.waiting import HUNG

MOST_MEMORY = 250_000_000
"""Bytes that the daemon may use in any flood."""
RATE: dict[Size, int] = {"small": 300, "full": 3_000}
SECONDS: dict[Size, float] = {"small": 2.0, "full": 20.0}
SESSIONS: dict[Size, int] = {"small": 100, "full": 10_000}
SYNC_MEMORY = 600_000_000
"""Bytes that a sync of so many sessions may use."""


def attack(size: Size, seed: int, folder: str) -> AttackResult:
    """Flood a daemon with events, then an archive with sessions."""
    result = AttackResult()
    result.add(flood_daemon(size, seed, os.path.join(folder, "live")), "live")
    result.add(fill_archive(size, seed, os.path.join(folder, "archive")), "archive")
    return result


class _Probe(threading.Thread):
    """Asks before calls, one after the other, as one agent does that works during the flood."""

    def __init__(self, daemon: RunningDaemon) -> None:
        super().__init__(daemon=True)
        self._daemon_process = daemon
        self.latencies: list[float] = []
        self.unanswered = 0
        self.memory = 0
        self.over = threading.Event()

    def run(self) -> None:
        while not self.over.wait(0.05):
            began = time.monotonic()
            try:
                self._daemon_process.ask("claude_code", before_call(len(self.latencies)))
            except daemon_client.DaemonError:
                self.unanswered += 1
            self.latencies.append(time.monotonic() - began)
            self.memory = max(self.memory, self._daemon_process.memory())


def before_call(number: int) -> bytes:
    call = {"tool_name": "Bash", "tool_use_id": f"probe-{number}", "tool_input": {"command": "ls"}}
    return json.dumps({"session_id": "probe", "cwd": "/w", "hook_event_name": "PreToolUse", **call}).encode()


def flood_daemon(size: Size, seed: int, folder: str) -> AttackResult:
    """Offer events at a rate that the daemon may not keep up with."""
    result = AttackResult()
    progress = Progress("floods")
    home = Home(folder)
    order = Order(home.folder, RATE[size], SECONDS[size], SESSIONS[size], seed)
    with running_daemon(home) as daemon:
        at_rest = daemon.memory()
        probe = _Probe(daemon)
        probe.start()
        progress(f"{order.rate} events/s for {order.seconds:g} s")
        report = _run_client(home, order)
        probe.over.set()
        probe.join(HUNG)
        is_drained = wait_for(lambda: daemon.status()["waiting"] == 0, HUNG)
        status = daemon.status()
        began = time.monotonic()
        daemon.ask("claude_code", before_call(-1))
        afterwards = time.monotonic() - began
        _check_counts(result, report, status, is_drained)
        again = f"seed {seed}, {order.rate} events/s in {order.sessions} sessions"
        result.check(daemon.runs(), f"{again}: the daemon ended")
        result.check(probe.unanswered == 0, f"{again}: {probe.unanswered} calls got no answer before them")
        result.check(probe.memory < MOST_MEMORY, f"{again}: the daemon used {probe.memory / 1e6:.0f} MB")
        result.check(status["sessions"] <= MOST, f"{again}: {status['sessions']} sessions in memory")
    stored = [load_session(path) for path in session_files(os.path.join(home.folder, "live", "sessions"))]
    result.check(len(stored) <= MOST_FILES, f"{again}: {len(stored)} files of sessions")
    result.check(None not in stored, f"{again}: damaged files of sessions")
    progress.clear()
    result.tried = report["offered"]
    result.figures |= {
        "offered/s": round(report["offered"] / report["took"]),
        "sessions": order.sessions,
        "answered": report["answered"],
        f"later than {LIMIT} s": report["late"],
        "taken at once": status["events"] - status["deferred"],
        "deferred": status["deferred"],
        "dropped": status["dropped"],
        "answer ms p50/p95/p99": "/".join(f"{value * 1000:.0f}" for value in report["latencies"][:3]),
        "before a call ms p50/p95/max": "/".join(
            f"{percentile(probe.latencies, share) * 1000:.0f}" for share in (0.5, 0.95, 1.0)
        ),
        "afterwards ms": round(afterwards * 1000, 1),
        "MB at rest": round(at_rest / 1e6),
        "MB at most": round(probe.memory / 1e6),
    }
    return result


def _run_client(home: Home, order: Order) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.attacks.flood_client", json.dumps(order.__dict__)]
    done = subprocess.run(command, env=home.variables, cwd=CHECKOUT, capture_output=True, timeout=HUNG, check=True)
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def _check_counts(result: AttackResult, report: dict[str, Any], status: dict[str, Any], is_drained: bool) -> None:
    """Every event that was answered is in a session, or counted as dropped; an unanswered one may have arrived as well."""
    handled = status["events"] + status["dropped"]
    result.check(report["failed"] == 0, f"{report['failed']} connections ended without an answer")
    result.check(is_drained, f"{status['waiting']} deferred events still wait")
    result.check(handled >= report["answered"], f"{report['answered']} events were answered and {handled} are counted")
    result.check(status["failures"] == 0, f"{status['failures']} events could not be handled: {status['troubles']}")


def fill_archive(size: Size, seed: int, folder: str) -> AttackResult:
    """Sync, learn from and start a session warm on very many sessions."""
    result = AttackResult()
    progress = Progress("floods")
    home = Home(folder)
    count = SESSIONS[size]
    for number in range(count):
        progress(f"session {number} of {count}")
        _write_session(home, seed, number)
    for words in (
        ("sync", "--quiet"),
        ("learn", "--quiet"),
        ("warm", "start", "--task", "run the tests", "--project", "/work/shop-1"),
        ("sessions", "list", "--json"),
    ):
        progress(" ".join(words))
        began = time.monotonic()
        done = home.run(*words, seconds=6 * HUNG)
        result.tried += 1
        result.check(
            done.returncode == 0, f"preheat {' '.join(words)}: {done.stderr.decode('utf-8', 'replace')[-300:]}"
        )
        result.figures[f"{words[0]} s"] = round(time.monotonic() - began, 1)
    progress.clear()
    health = home.run("doctor", "--json")
    result.check(health.returncode in (0, 1), f"preheat doctor: {health.stderr.decode('utf-8', 'replace')[-300:]}")
    result.figures["sessions"] = count
    return result


def _write_session(home: Home, seed: int, number: int) -> None:
    """A short session; all use the same call ids, as formats with numbered calls do."""
    began = time.time() - (number % 1000) * 600
    name = f"{seed:08x}-0000-4000-8000-{number:012x}"
    found = ClaudeTranscript(session=name, project=f"/work/shop-{number % 7}", started=began)
    found = (
        found.prompt(f"Make step {number} work")
        .answer("I run the tests.")
        .run("pytest tests", "command not found", 127)
    )
    found = found.answer("Another way.").run("uv run pytest tests", "5 passed in 0.1s").answer("Done.")
    found.write(os.path.join(home.home, ".claude", "projects"))
