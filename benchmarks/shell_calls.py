"""What our hooks add to a shell call in the real agent programs: without them, with hooks that do nothing (`true`), with the
Python client, with the native one.

A scripted model asks for the same quick command again and again; the time from one request of the program to the next is what a
call takes. The ways take turns, a session each, so that the load of the machine falls on all alike. Programs that are not
installed (`scripts/install-agents`) are left out.
"""

import itertools
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from benchmarks.measuring import table
from preheat import daemon_client, native_client
from preheat.installing.plans import apply_file_plan, make_client, plan_install
from preheat.testing.model_server import Call, ModelServer, Reply, Request
from tests.programs import gemini
from tests.programs.codex import CodexHome, find_codex
from tests.programs.copilot import CopilotHome, find_copilot
from tests.programs.program import clean_environment

WAYS = ("without", "empty hook", "Python client", "native client")
_FIRST = 2
"""Calls of a session that are not counted: programs are still starting things."""
_LIMIT_MS = 8.0


def run(quick: bool) -> dict[str, Any]:
    calls, rounds = (12, 2) if quick else (30, 8)
    data = tempfile.mkdtemp(prefix="preheat-bench-")
    environment = {**os.environ, "PREHEAT_HOME": data}
    daemon_client.write_client(data)
    daemon = subprocess.Popen([sys.executable, "-m", "preheat", "serve", "--foreground"], env=environment)
    result: dict[str, Any] = {"calls": calls, "rounds": rounds}
    try:
        if daemon_client.wait_for_daemon(True, data, 30.0) is None:
            raise SystemExit("benchmarks: the daemon did not start")
        for agent, (find, session) in AGENTS.items():
            if find() is not None:
                result[agent] = _measure(agent, session, data, calls, rounds)
    finally:
        daemon.send_signal(signal.SIGTERM)
        daemon.wait(20)
        shutil.rmtree(data, ignore_errors=True)
    return _report(result)


Session = Callable[[str, str, str, int], Sequence[Request]]
"""A session of so many calls below a folder, in one of the ways, with the hooks of a data folder; the requests to the model."""


def _measure(agent: str, session: Session, data: str, calls: int, rounds: int) -> dict[str, Any]:
    """The milliseconds of a call in each way, and what each round's ways add to the one without hooks."""
    medians: dict[str, list[float]] = {way: [] for way in WAYS}
    for number in range(rounds):
        for way in WAYS[number % len(WAYS) :] + WAYS[: number % len(WAYS)]:
            native_client.remove(data)
            if way == "native client" and not native_client.build(data):
                raise SystemExit("benchmarks: the native client was not built")
            place = tempfile.mkdtemp(prefix="preheat-bench-")
            try:
                found = session(place, way, data, calls)
            finally:
                shutil.rmtree(place, ignore_errors=True)
            at = [request.at for request in found][_FIRST:]
            medians[way].append(statistics.median(b - a for a, b in itertools.pairwise(at)) * 1000)
    without = medians["without"]
    added = {way: [a - b for a, b in zip(each, without, strict=True)] for way, each in medians.items()}
    return {"milliseconds": medians, "added": {way: statistics.median(each) for way, each in added.items()}}


def _script(tool: str, arguments: dict[str, Any], calls: int) -> list[Reply]:
    return [*(Reply(calls=[Call(tool, arguments)]) for _ in range(calls)), Reply("Done.")]


def _install(agent: str, way: str, data: str, environment: dict[str, str]) -> bytes:
    """Install the hooks of a way; the settings that were written."""
    if way == "without":
        return b"{}"
    plan = plan_install(agent, data, environment)
    if way == "empty hook" and plan.after is not None:
        text, client = plan.after.decode(), make_client(agent, data)
        for command in (client.command, client.safe_command):
            text = text.replace(json.dumps(command), json.dumps("true"))
        plan = plan._replace(after=text.encode())
    apply_file_plan(plan, data, time.time())
    return plan.after or b"{}"


def _run_codex(place: str, way: str, data: str, calls: int) -> Sequence[Request]:
    with ModelServer(_script("exec_command", {"cmd": "true"}, calls)) as server:
        home = CodexHome(place, server.url)
        _install("codex", way, data, home.environment)
        home.exec("Go on.", "--dangerously-bypass-hook-trust")
        return server.main_requests


def _run_copilot(place: str, way: str, data: str, calls: int) -> Sequence[Request]:
    with ModelServer(_script("bash", {"command": "true", "description": "Nothing"}, calls)) as server:
        home = CopilotHome(place, server.url)
        _install("copilot", way, data, home.environment)
        home.prompt("Go on.")
        return server.main_requests


def _run_gemini(place: str, way: str, data: str, calls: int) -> Sequence[Request]:
    environment = clean_environment(place, {"GEMINI_CLI_HOME": place})
    settings = msgspec.json.decode(_install("gemini", way, data, environment))
    replies = _script("run_shell_command", {"command": "true"}, calls)
    job = gemini.Job(program=gemini.find_gemini() or "", home=place, prompt="Go on.", script=replies, settings=settings)
    return [request for request in gemini.run_here(job).requests if not request.auxiliary]


AGENTS: dict[str, tuple[Callable[[], str | None], Session]] = {
    "codex": (find_codex, _run_codex),
    "copilot": (find_copilot, _run_copilot),
    "gemini": (gemini.find_gemini, _run_gemini),
}


def _report(result: dict[str, Any]) -> dict[str, Any]:
    rows = [["program", *(f"{way}, ms" for way in WAYS), *(f"{way} adds" for way in WAYS[1:])]]
    result["targets"] = {}
    for agent in AGENTS:
        if agent not in result:
            print(f"`{agent}` is not installed")
            continue
        medians, added = result[agent]["milliseconds"], result[agent]["added"]
        taken = [f"{statistics.median(medians[way]):.1f}" for way in WAYS]
        rows.append([agent, *taken, *(f"{added[way]:.1f}" for way in WAYS[1:])])
        result["targets"][f"{agent}: native client adds <= {_LIMIT_MS:g} ms"] = added["native client"] <= _LIMIT_MS
    table(rows)
    for name, met in result["targets"].items():
        print(f"{'met   ' if met else 'MISSED'}  {name}")
    return result
