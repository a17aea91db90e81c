"""What a hook event costs the processor, whatever else the machine does: CPU time of the daemon, files that it opens, steps
of the clients.

Times on the clock say nothing on a busy machine. CPU time of this process and counts of instructions (callgrind, where it is
installed) do. The engine is the daemon's own, with a project of some thousand files on the disk.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.latency import AGENT, event
from benchmarks.measuring import table
from preheat import daemon_client, native_client
from preheat.app.live.hooks import Hooks
from preheat.daemon.engine import Engine

_LOOKS = frozenset(["open", "os.listdir", "os.scandir", "sqlite3.connect", "subprocess.Popen", "socket.connect"])
_COLLECTED = re.compile(r"Collected : (\d+)")
_counts: Counter[str] = Counter()
_is_counting = False


def _note(name: str, arguments: tuple[Any, ...]) -> None:
    if _is_counting and name in _LOOKS:
        _counts[name] += 1


def run(quick: bool) -> dict[str, Any]:
    sys.addaudithook(_note)
    folder = tempfile.mkdtemp(prefix="preheat-cpu-")
    try:
        events = _measure_events(folder, 300 if quick else 3000)
        return _report({"events": events, "instructions": _count_instructions(folder)})
    finally:
        shutil.rmtree(folder, ignore_errors=True)


# The daemon.
def _measure_events(folder: str, times: int) -> dict[str, dict[str, float]]:
    project = _make_project(os.path.join(folder, "project"))
    live = daemon_client.prepare_folder(os.path.join(folder, "data"))
    hooks = Hooks(os.path.join(folder, "data"))
    hooks.prepare_folder(project)
    engine = Engine(live, hooks)
    number = 0

    def take(payload: dict[str, Any]) -> None:
        nonlocal number
        number += 1
        common = {"session_id": f"s{number % 20}", "cwd": project, "tool_use_id": f"call-{number}"}
        engine.take_event(AGENT, json.dumps({**payload, **common}).encode(), float(number), seconds=60.0)

    take({"hook_event_name": "SessionStart", "source": "startup"})
    return {name: _measure(take, kind, times) for name, kind in _kinds(project).items()}


def _kinds(project: str) -> dict[str, Callable[[int], dict[str, Any]]]:
    def before(tool: str, **arguments: Any) -> dict[str, Any]:
        return {"hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": arguments}

    part = f"{project}/src/pack3/part7.py"
    return {
        "before: a shell command": lambda n: before("Bash", command=f"git status && npm test -- part{n % 7}"),
        "before: a shell command that reads a file": lambda n: before("Bash", command=f"cat src/pack{n % 9}/part7.py"),
        "before: a read": lambda n: before("Read", file_path=part),
        "before: an edit": lambda n: before("Edit", file_path=part, old_string="value = 7", new_string=f"value = {n}"),
        "before: a path that is missing": lambda n: before("Read", file_path=f"{project}/src/part{n}.py"),
        "after: a command with 2 KB of output": lambda n: json.loads(event(3 * n + 1)),
    }


def _measure(
    take: Callable[[dict[str, Any]], None], kind: Callable[[int], dict[str, Any]], times: int
) -> dict[str, float]:
    global _is_counting  # an audit hook cannot be taken away again
    for number in range(20):
        take(kind(number))
    payloads = [kind(number) for number in range(20, 20 + times)]
    _counts.clear()
    _is_counting = True
    began = time.process_time()
    for payload in payloads:
        take(payload)
    seconds = time.process_time() - began
    _is_counting = False
    return {"microseconds": 1e6 * seconds / times, "opened": sum(_counts.values()) / times}


def _make_project(project: str) -> str:
    for pack in range(10):
        folder = Path(project, "src", f"pack{pack}")
        folder.mkdir(parents=True)
        for part in range(200):
            (folder / f"part{part}.py").write_text(f"value = {part}\n" * 20)
    return project


# The clients.
def _count_instructions(folder: str) -> dict[str, int]:
    valgrind, data = shutil.which("valgrind"), os.path.join(folder, "data")
    if valgrind is None or not native_client.build(data):
        return {}
    client = daemon_client.write_client(data)
    words = [sys.executable, "-I", "-S", "-E", client, AGENT]
    programs = {
        "bare `python3 -I -S -c pass`": [sys.executable, "-I", "-S", "-c", "pass"],
        "hook client, native": [native_client.native_path(data), *words],
    }
    found = {}
    environment = {**os.environ, "PREHEAT_HOME": data}
    daemon = subprocess.Popen([sys.executable, "-m", "preheat", "serve", "--foreground"], env=environment)
    try:
        if daemon_client.wait_for_daemon(True, data, 60.0) is None:
            return {}
        for name, command in programs.items():
            counting = [valgrind, "--tool=callgrind", f"--callgrind-out-file={folder}/counts"]
            done = subprocess.run(
                [*counting, *command], input=event(1), capture_output=True, env=environment, check=False
            )
            if counted := _COLLECTED.search(done.stderr.decode("utf-8", "replace")):
                found[name] = int(counted[1])
    finally:
        daemon.terminate()
        daemon.wait(20)
    return found


def _report(result: dict[str, Any]) -> dict[str, Any]:
    table([["event", "CPU, microseconds", "events/s on one core", "files and folders opened"]] + [
        [name, f"{each['microseconds']:.0f}", f"{1e6 / each['microseconds']:,.0f}", f"{each['opened']:.2f}"]
        for name, each in result["events"].items()
    ])  # fmt: skip
    if result["instructions"]:
        most = max(result["instructions"].values())
        table([["client", "instructions", "share"]] + [
            [name, f"{count:,}", f"{count / most:.3f}"] for name, count in result["instructions"].items()
        ])  # fmt: skip
    return result
