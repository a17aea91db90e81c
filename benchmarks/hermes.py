"""What the plugin costs in the real Hermes: each of its callbacks between two clocks, and the whole way from one request of the
model's to the next, with the plugin and without, taking turns.

The clocks are two plugins of this benchmark, loaded before and after ours: what passes between them is ours, and what they
measure without it is their own. Needs the program (`scripts/install-agents hermes`); the model is scripted.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from itertools import pairwise
from typing import Any

from benchmarks.measuring import table
from preheat import daemon_client
from preheat.testing.script import Call, Reply
from tests.programs import hermes

READS, COMMANDS = 25, 15
ARMS = ("without", "with")
WHOLE = "from request to request"
"""All that Hermes does between two: the tool, its own work, and ours."""
_HOOKS = ("pre_llm_call", "pre_tool_call", "post_tool_call", "transform_tool_result", "on_session_end")
_CLOCK = """
import json, os, time
STAMPS = [("register", "", time.perf_counter_ns())]
def stamp(name, call):
    STAMPS.append((name, call or "", time.perf_counter_ns()))
def register(ctx):
    for name in {hooks!r}:
        ctx.register_hook(name, lambda name=name, **fields: stamp(name, fields.get("tool_call_id")))
    ctx.register_middleware("llm_request", lambda **fields: stamp("llm_request", fields["api_request_id"]))
    ctx.register_hook("on_session_finalize", lambda **fields: open({path!r}, "w").write(json.dumps(STAMPS)))
"""


def run(quick: bool) -> dict[str, Any]:
    program = hermes.find_hermes()
    if program is None:
        raise SystemExit("benchmarks: no `hermes` program: run `scripts/install-agents hermes`")
    folder = tempfile.mkdtemp(prefix="preheat-bench-")
    data = os.path.join(folder, "data")
    os.makedirs(data)
    environment = {**os.environ, "PREHEAT_HOME": data}
    daemon = subprocess.Popen([sys.executable, "-m", "preheat", "serve", "--foreground"], env=environment)
    try:
        if daemon_client.wait_for_daemon(True, data, 30.0) is None:
            raise SystemExit("benchmarks: the daemon did not start")
        found: dict[str, list[dict[str, list[float]]]] = {arm: [] for arm in ARMS}
        for number in range(2 if quick else 6):
            for arm in ARMS if number % 2 else ARMS[::-1]:
                found[arm].append(_session(program, os.path.join(folder, f"{arm}{number}"), data, arm == "with"))
        event_count = daemon_client.status(data)["events"]
    finally:
        daemon.terminate()
        daemon.wait(20)
        shutil.rmtree(folder, ignore_errors=True)
    result: dict[str, Any] = {
        arm: {name: _summary([value for each in runs for value in each[name]]) for name in runs[0]}
        for arm, runs in found.items()
    }
    whole = [name for name in found["with"][0] if name.startswith(WHOLE)]
    result["between sessions"] = {
        arm: {name: [statistics.median(each[name]) for each in runs] for name in whole} for arm, runs in found.items()
    }
    return _report({**result, "sessions": len(found["with"]), "events": event_count, "load": os.getloadavg()[0]})


def _session(program: str, home: str, data: str, with_plugin: bool) -> dict[str, list[float]]:
    """Milliseconds by what took them, in one session."""
    project = os.path.join(home, "project")
    os.makedirs(project)
    enabled = ["a-clock", *(["preheat"] if with_plugin else []), "z-clock"]
    for name in (enabled[0], enabled[-1]):
        plugin = os.path.join(home, ".hermes", "plugins", name)
        os.makedirs(plugin)
        with open(os.path.join(plugin, "plugin.yaml"), "w") as stream:
            stream.write(f"name: {name}\nversion: 0.1.0\n")
        with open(os.path.join(plugin, "__init__.py"), "w") as stream:
            stream.write(_CLOCK.format(hooks=_HOOKS, path=os.path.join(home, name)))
    if with_plugin:
        hermes.place_plugin(home, data)
    for number in range(READS):
        with open(os.path.join(project, f"part{number}.txt"), "w") as stream:
            stream.write(f"one line of part {number}\n" * 40)
    script = [Reply(calls=[Call("read_file", {"path": f"part{number}.txt"})]) for number in range(READS)]
    script += [Reply(calls=[Call("terminal", {"command": f"echo {number}"})]) for number in range(COMMANDS)]
    question = ["chat", "-q", "Read all parts.", "-Q", "--yolo"]
    settings = f"plugins: {{enabled: {json.dumps(enabled)}}}"
    job = hermes.Job(
        program=program, home=home, arguments=question, script=[*script, Reply("Done.")], settings=settings
    )
    finished = hermes.run(job)
    request_times = [
        each.at for each in finished.requests if each.path.endswith("/chat/completions") and not each.auxiliary
    ]
    intervals = [(after - before) * 1000 for before, after in pairwise(request_times)]
    first, last = (_stamps(os.path.join(home, name)) for name in (enabled[0], enabled[-1]))
    return {
        **_between(first, last),
        f"{WHOLE}, read_file": intervals[1:READS],
        f"{WHOLE}, terminal": intervals[READS + 1 : READS + COMMANDS],
    }


def _stamps(path: str) -> dict[tuple[str, str], int]:
    with open(path, encoding="utf-8") as stream:
        return {(name, call): at for name, call, at in json.load(stream)}


def _between(first: dict[tuple[str, str], int], last: dict[tuple[str, str], int]) -> dict[str, list[float]]:
    """Between the clocks: loading, the first turn, all that is done for one call, a request, the end of a turn."""
    spent = {key: (last[key] - at) / 1e6 for key, at in first.items() if key in last}
    calls: dict[str, float] = {}
    for (name, call), milliseconds in spent.items():
        if call and name != "llm_request":
            calls[call] = calls.get(call, 0.0) + milliseconds
    commands = {call for name, call in spent if name == "pre_tool_call"}
    order = [call for call in calls if call in commands]
    return {
        "loading the plugin": [spent["register", ""]],
        "start of a session": [spent["pre_llm_call", ""]],
        "a call of read_file": [calls[call] for call in order[:READS]],
        "a call of terminal": [calls[call] for call in order[READS:]],
        "a request": [milliseconds for (name, _), milliseconds in spent.items() if name == "llm_request"],
        "end of a turn": [spent["on_session_end", ""]],
    }


def _summary(values: list[float]) -> dict[str, float]:
    ordered = sorted(values)
    return {
        "median": statistics.median(ordered),
        "p95": ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))],
        "most": ordered[-1],
        "number": len(ordered),
    }


def _report(result: dict[str, Any]) -> dict[str, Any]:
    print(f"{result['sessions']} sessions each way, in turns; load {result['load']:.1f}; milliseconds\n")
    rows = [["", "measured", "without", "with", "added (median)", "with, p95", "with, most"]]
    for name, there in result["with"].items():
        none = result["without"][name]
        rows.append(
            [
                name, str(int(there["number"])), f"{none['median']:.2f}", f"{there['median']:.2f}",
                f"{there['median'] - none['median']:+.2f}", f"{there['p95']:.2f}", f"{there['most']:.2f}",
            ]
        )  # fmt: skip
    table(rows)
    for name, medians in result["between sessions"]["without"].items():
        print(
            f"\n{name}: without the plugin sessions differ by themselves, from {min(medians):.0f} to {max(medians):.0f} ms"
        )
    return result
