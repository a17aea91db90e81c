"""How long an agent waits for the first hook of a session while no daemon runs, and whether it gets its context: on a machine as
it is, and beside eight processes that compute without a pause.

What the first hook did not bring, the next one (a prompt two seconds later) should. A bare start of Python is measured in turn.
With `--against REV` the code of an earlier commit is measured beside this one.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from benchmarks.measuring import ROOT, table
from benchmarks.startup import check_out
from preheat.testing.builders import ClaudeTranscript

SPINNING = 8
LIMIT = 1.5
"""Seconds that an agent may wait."""
PROMPT_AFTER = 2.0
AGENT = "claude_code"


class Version(NamedTuple):
    """Preheat at some commit, with its own archive."""

    name: str
    source: str
    home: str
    data: str

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PREHEAT")}
        kept.pop("PYTHONDONTWRITEBYTECODE", None)
        return {**kept, "HOME": self.home, "PREHEAT_HOME": self.data, "PYTHONPATH": self.source}


class ColdStart(NamedTuple):
    """The first hooks of one session."""

    seconds: float
    at_start: bool
    """Whether the first hook brought the context."""
    in_the_end: bool
    """Whether it or the next one did."""


def run(quick: bool, against: str = "") -> dict[str, Any]:
    times = 3 if quick else 20
    result: dict[str, Any] = {"against": against, "limit": LIMIT, "conditions": {}}
    rows = [
        [
            "machine",
            "code",
            "p50 s",
            "p95 s",
            "p50 / bare Python",
            f"over {LIMIT:g} s",
            "with context",
            "or by the next event",
        ]
    ]
    with tempfile.TemporaryDirectory(prefix="preheat-bench-") as work, contextlib.ExitStack() as stack:
        sources = {"now": os.path.join(ROOT, "src")}
        if against:
            sources["before"] = os.path.join(stack.enter_context(check_out(against, work)), "src")
        versions = [prepare(name, source, os.path.join(work, name)) for name, source in sources.items()]
        for condition, spinning in (("quiet", 0), ("busy", SPINNING)):
            with keep_busy(spinning):
                bare, found = measure(versions, times)
            result["conditions"][condition] = {"bare_python": bare}
            for name, starts in found.items():
                shown = summarise(starts, bare)
                result["conditions"][condition][name] = shown
                rows.append([condition, name, *shown["row"]])
    table(rows)
    return result


def prepare(name: str, source: str, work: str) -> Version:
    """A machine on which four sessions found out how a project's tests are run, each for itself."""
    version = Version(name, source, os.path.join(work, "home"), os.path.join(work, "data"))
    project = os.path.join(work, "shop")
    os.makedirs(project)
    for number in range(1, 5):
        session = f"{number:08x}-1111-4000-8000-000000000000"
        found = ClaudeTranscript(session=session, project=project, started=time.time() - (6 - number) * 86400)
        found = found.prompt(f"Make checkout step {number} work").answer("I run the tests.")
        found = found.run("pytest tests", "bash: pytest: command not found", 127).answer("Another way.")
        found = found.run("uv run pytest tests", f"{number + 4} passed in 0.1s").answer("Done.")
        found.write(os.path.join(version.home, ".claude", "projects"))
    for words in (("-m", "preheat", "sync", "--quiet"), ("-m", "preheat", "learn", "--quiet")):
        subprocess.run([sys.executable, *words], env=version.environment, check=True)
    install = "from preheat.daemon_client import write_client; write_client()"
    subprocess.run([sys.executable, "-c", install], env=version.environment, check=True)
    start_session(version, 0)  # byte code is made now
    return version


@contextlib.contextmanager
def keep_busy(number: int) -> Iterator[None]:
    """Processes that compute without a pause, for this time."""
    spinning = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(number)]
    try:
        yield
    finally:
        for each in spinning:
            each.kill()
            each.wait()


def measure(versions: list[Version], times: int) -> tuple[float, dict[str, list[ColdStart]]]:
    bare: list[float] = []
    found: dict[str, list[ColdStart]] = {each.name: [] for each in versions}
    for number in range(1, times + 1):
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        bare.append(time.perf_counter() - started)
        for version in versions[:: 1 if number % 2 else -1]:
            found[version.name].append(start_session(version, number))
    return percentile(bare, 50), found


def start_session(version: Version, number: int) -> ColdStart:
    """Begin a session while no daemon runs."""
    session = f"{number:08x}-2222-4000-8000-{time.time_ns() % 10**12:012}"
    payload = {"session_id": session, "cwd": os.path.join(os.path.dirname(version.data), "shop")}
    try:
        started = time.perf_counter()
        first = run_hook(version, {**payload, "hook_event_name": "SessionStart", "source": "startup"})
        seconds = time.perf_counter() - started
        second = b""
        if not first:
            time.sleep(PROMPT_AFTER)
            second = run_hook(
                version, {**payload, "hook_event_name": "UserPromptSubmit", "prompt": "mend the checkout"}
            )
        return ColdStart(seconds, bool(first), bool(first or second))
    finally:
        end_daemon(version)


def run_hook(version: Version, payload: dict[str, str]) -> bytes:
    client = os.path.join(version.data, "hook.py")
    command = [sys.executable, "-I", "-S", "-E", client, AGENT]
    done = subprocess.run(
        command, input=json.dumps(payload).encode(), env=version.environment, check=True, capture_output=True
    )
    return done.stdout


def end_daemon(version: Version) -> None:
    """End the daemon that was started, also one that is still starting."""
    live = os.path.join(version.data, "live")
    end = time.monotonic() + 60
    while not os.path.exists(os.path.join(live, "socket")) and time.monotonic() < end:
        time.sleep(0.05)
    with open(os.path.join(live, "lock")) as stream:
        os.kill(int(stream.read().split()[0]), signal.SIGKILL)
    for name in ("socket", "starting", "slow", "lock"):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(live, name))
    shutil.rmtree(os.path.join(live, "spool"))


def percentile(values: list[float], percent: int) -> float:
    return sorted(values)[min(len(values) - 1, len(values) * percent // 100)]


def summarise(starts: list[ColdStart], bare: float) -> dict[str, Any]:
    seconds = [each.seconds for each in starts]
    middle, high = percentile(seconds, 50), percentile(seconds, 95)
    late = sum(each > LIMIT for each in seconds)
    at_start, in_the_end = (sum(getattr(each, field) for each in starts) for field in ("at_start", "in_the_end"))
    return {
        "n": len(starts), "p50": middle, "p95": high, "ratio_to_bare_python": middle / bare, "over_limit": late,
        "with_context": at_start, "with_context_by_next_event": in_the_end, "seconds": seconds,
        "row": [
            f"{middle:.3f}", f"{high:.3f}", f"{middle / bare:.1f}",
            *(f"{each}/{len(starts)}" for each in (late, at_start, in_the_end)),
        ],
    }  # fmt: skip
