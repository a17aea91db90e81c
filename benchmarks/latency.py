"""What a hook costs, in one run: the client beside bare programs, the daemon by itself, many events, many sessions.

Everything takes turns, so that the load of the machine falls on all alike. The daemon is a real one and does all of its work:
reads the hook, judges the call, writes the journal, folds, and decides whether to speak.
"""

import json
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from typing import Any

from benchmarks.measuring import table
from preheat import daemon_client, native_client
from preheat.installing.plans import make_client

AGENT = "claude_code"
_BARE, _NATIVE = "bare `python3 -I -S -c pass`", "hook client, native"
_OUTPUT = (
    "\n".join(f"tests/test_part{number}.py ........ [ {number}%]" for number in range(40)) + "\n320 passed in 4.1s\n"
)
_DRIVE = """
import sys
from benchmarks.latency import drive
drive(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]))
"""


def event(number: int, session: str = "bench") -> bytes:
    """A hook event of about 2 KB: mostly a command, sometimes an edit."""
    call: dict[str, Any] = {"tool_name": "Bash", "tool_use_id": f"toolu_{session}_{number}"}
    call |= {"tool_input": {"command": f"pytest tests/test_part{number % 7}.py", "description": "Run the tests"}}
    call["tool_response"] = {"stdout": _OUTPUT, "stderr": "", "interrupted": False, "isImage": False}
    if number % 3 == 0:
        path = f"/w/proj/src/part{number % 11}.py"
        call |= {"tool_name": "Edit", "tool_input": {"file_path": path, "old_string": "a", "new_string": f"b{number}"}}
        call["tool_response"] = {"filePath": path, "structuredPatch": []}
    head = {"session_id": session, "cwd": "/w/proj", "hook_event_name": "PostToolUse", "permission_mode": "default"}
    return json.dumps({**head, **call}).encode()


def event_before(number: int, session: str = "bench") -> bytes:
    """What comes before the call of `event`."""
    call = json.loads(event(number, session))
    del call["tool_response"]
    return json.dumps({**call, "hook_event_name": "PreToolUse"}).encode()


def run(quick: bool) -> dict[str, Any]:
    folder = tempfile.mkdtemp(prefix="preheat-bench-")
    environment = {**os.environ, "PREHEAT_HOME": folder, "PYTHONDONTWRITEBYTECODE": ""}
    client = daemon_client.write_client(folder)
    daemon = subprocess.Popen([sys.executable, "-m", "preheat", "serve", "--foreground"], env=environment)
    try:
        if daemon_client.wait_for_daemon(True, folder, 30.0) is None:
            raise SystemExit("benchmarks: the daemon did not start")
        result = {
            "spawned": _measure_programs(folder, client, 60 if quick else 300),
            "daemon": _round_trips(folder, 300 if quick else 3000),
            "sustained": _measure_sustained(folder, 3 if quick else 20),
            "sessions": _measure_sessions(folder, 200, 10 if quick else 40),
            "load": os.getloadavg()[0],
        }
        return _report(result)
    finally:
        daemon.send_signal(signal.SIGTERM)
        daemon.wait(20)
        shutil.rmtree(folder, ignore_errors=True)


# Programs.
def _measure_programs(folder: str, client: str, times: int) -> dict[str, dict[str, float]]:
    python = sys.executable
    installed = [python, "-I", "-S", "-E", client, AGENT]
    commands: dict[str, list[str]] = {
        "`true`": ["true"],
        _BARE: [python, "-I", "-S", "-c", "pass"],
        "hook client, Python": installed,
    }
    if native_client.build(folder):
        commands[_NATIVE] = [native_client.native_path(folder), *installed]
        commands["the installed command, in `sh`"] = ["/bin/sh", "-c", make_client(AGENT, folder).command]
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    for number in range(times):
        for name, command in commands.items():
            payload = event(number, f"spawn-{len(name)}")
            began = time.perf_counter()
            subprocess.run(command, input=payload, stdout=subprocess.DEVNULL, check=True)
            seconds[name].append(time.perf_counter() - began)
    return {name: _summary(each) for name, each in seconds.items()}


# The daemon alone.
def _round_trips(folder: str, times: int) -> dict[str, dict[str, float]]:
    """Fresh connections, taking turns, a moment apart as hooks are."""
    ways: dict[str, Callable[[bytes], bytes]] = {
        "HTTP, fresh connection": lambda payload: _post(folder, payload),
        "Unix socket": lambda payload: daemon_client.ask(AGENT, payload, folder),
    }
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(times):
        for name, way in ways.items():
            payload = event(number, name[:4])
            began = time.perf_counter()
            way(payload)
            seconds[name].append(time.perf_counter() - began)
            time.sleep(0.002)
    return {name: _summary(each) for name, each in seconds.items()}


def _post(folder: str, payload: bytes) -> bytes:
    """A post without a library, whose time would be measured too."""
    known = _address(folder)
    head = f"POST /hook/{AGENT} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {known.token}\r\n"
    with socket.create_connection(("127.0.0.1", known.port)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.sendall(f"{head}Connection: close\r\nContent-Length: {len(payload)}\r\n\r\n".encode() + payload)
        answer = b""
        while more := connection.recv(65536):
            answer += more
    if not answer.startswith((b"HTTP/1.1 200", b"HTTP/1.1 204")):
        raise SystemExit(f"benchmarks: {answer[:100]!r}")
    return answer


_known: dict[str, daemon_client.Address] = {}


def _address(folder: str) -> daemon_client.Address:
    if folder not in _known:
        _known[folder] = daemon_client.ensure_address(folder)
    return _known[folder]


# Many events.
def _measure_sustained(folder: str, seconds: int) -> dict[str, float]:
    """A thousand events a second, as a clock gives them, from another process; then as many as go."""
    before = daemon_client.status(folder)
    spent = _processor(before["pid"])
    offered = _run_driver(folder, 20, seconds, 1000.0)
    after = daemon_client.status(folder)
    offered["taken_in"] = after["events"] - before["events"]
    offered["processor_ms"] = (_processor(before["pid"]) - spent) * 1000 / max(1, offered["taken_in"])
    most = _run_driver(folder, 20, max(2, seconds // 4), 0.0)
    return {**offered, "most_per_second": most["per_second"]}


def _processor(pid: int) -> float:
    """Seconds of processor time of a process; 0 where that is unknown."""
    try:
        with open(f"/proc/{pid}/stat") as stream:
            words = stream.read().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def _run_driver(folder: str, sessions: int, seconds: int, rate: float) -> dict[str, float]:
    command = [sys.executable, "-c", _DRIVE, folder, str(sessions), str(seconds), str(rate)]
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def drive(folder: str, sessions: int, seconds: int, rate: float) -> None:
    """In the other process: events at a rate, 0 for as many as go; how late each answer came after its time."""
    delays: dict[str, list[float]] = {"before": [], "after": []}
    lock = threading.Lock()
    began = time.perf_counter()
    counter = iter(range(10**9))
    stamp = f"{time.time_ns() % 10**9}"

    def tell() -> None:
        while True:
            with lock:
                number = next(counter)
            due = began + number / rate if rate else time.perf_counter()
            if (due if rate else time.perf_counter()) > began + seconds:
                return
            call, session = number // 2, f"{stamp}-{number // 2 % sessions}"
            kind, payload = ("after", event(call, session)) if number % 2 else ("before", event_before(call, session))
            if (wait := due - time.perf_counter()) > 0:
                time.sleep(wait)
            daemon_client.ask(AGENT, payload, folder, 10.0)
            delays[kind].append(time.perf_counter() - due)

    threads = [threading.Thread(target=tell) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    spent = time.perf_counter() - began
    every = [*delays["before"], *delays["after"]]
    kinds = {kind: _summary(each) for kind, each in delays.items()}
    print(json.dumps({"events": len(every), "per_second": len(every) / spent, **_summary(every), **kinds}))


# Many sessions.
def _measure_sessions(folder: str, sessions: int, events: int) -> dict[str, float]:
    before = daemon_client.status(folder)
    for number in range(events):
        for session in range(sessions):
            daemon_client.ask(AGENT, event(number, f"many-{session}"), folder, 10.0)
    after = daemon_client.status(folder)
    return {"sessions": sessions, "events_each": events, "memory_before": before["memory"], "memory": after["memory"]}


def _summary(seconds: list[float]) -> dict[str, float]:
    """In milliseconds."""
    ordered = sorted(seconds)

    def at(share: float) -> float:
        return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))] * 1000, 3)

    return {"n": len(seconds), "p50": round(statistics.median(ordered) * 1000, 3), "p95": at(0.95), "p99": at(0.99)}


def _report(result: dict[str, Any]) -> dict[str, Any]:
    spawned, daemon, sustained = result["spawned"], result["daemon"], result["sustained"]
    bare = spawned[_BARE]["p50"]
    rows = [["what", "n", "p50 ms", "p95 ms", "p99 ms", "to bare Python"]]
    for name, each in {**spawned, **daemon}.items():
        rows.append(
            [name, str(each["n"]), *(f"{each[key]:.2f}" for key in ("p50", "p95", "p99")), f"{each['p50'] / bare:.2f}"]
        )
    for kind in ("before", "after"):
        found = sustained[kind]
        shown = [f"{found[key]:.2f}" for key in ("p50", "p95", "p99")]
        rows.append([f"Unix socket, {kind} a call, at 1,000 events/s", str(found["n"]), *shown, ""])
    table(rows)
    print(
        f"sustained: {sustained['per_second']:,.0f} events/s offered and taken, {sustained['most_per_second']:,.0f} at most "
        f"from one program; {sustained['processor_ms']:.2f} ms of the daemon's processor time each"
    )
    many = result["sessions"]
    print(
        f"memory: {many['memory'] / 1e6:.0f} MB with {many['sessions']} sessions of {many['events_each']} events more"
    )
    post = daemon["HTTP, fresh connection"]
    result["targets"] = {
        "HTTP p50 <= 2 ms": post["p50"] <= 2,
        "HTTP p99 <= 10 ms": post["p99"] <= 10,
        "Python client <= 1.5 x bare Python": spawned["hook client, Python"]["p50"] <= 1.5 * bare,
        "native client <= 0.30 x bare Python": _NATIVE in spawned and spawned[_NATIVE]["p50"] <= 0.30 * bare,
        "1,000 events/s": sustained["per_second"] >= 990 and sustained["taken_in"] >= sustained["events"],
        "before a call, p99 <= 3 ms at 1,000 events/s": sustained["before"]["p99"] <= 3,
        ">= 2,500 events/s at most": sustained["most_per_second"] >= 2500,
    }
    for name, met in result["targets"].items():
        print(f"{'met   ' if met else 'MISSED'}  {name}")
    return result
