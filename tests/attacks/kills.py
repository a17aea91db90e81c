"""Kills at random moments: real commands and a real daemon, ended by each of the signals that end programs.

Afterwards nothing is lost and nothing doubled, no process is left and no lock held, the archive is sound, and what comes next
works. The end of it all is compared with a machine on which nothing was ever killed.
"""

import json
import os
import random
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from preheat import daemon_client
from preheat.app.live.running import load_session, session_file
from preheat.settings import archive_path
from preheat.testing.builders import ClaudeTranscript
from tests.attacks.attack import AttackResult, Progress, Size, percentile
from tests.attacks.processes import Home, RunningDaemon, processes_in_group, processes_of, wait_for
from tests.ingest.machine import Machine
from tests.state import home_0_1_0
from tests.waiting import HUNG

ROUNDS: dict[Size, int] = {"small": 5, "full": 100}
NEW_SESSIONS: dict[Size, int] = {"small": 12, "full": 40}
"""Sessions that lie there unread before each kill."""
LINES = 20
MANY_LINES = 2_400
"""Lines of each output; at full size in every tenth round so many that a sync reads with workers."""
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
PATIENCE = 30.0
"""Seconds in which whatever was killed is gone, on any machine; how long it took is a figure."""
LATEST = 1.2
"""Seconds after its start at which a command is killed at the latest."""
COMMANDS = (
    ("sync", "--quiet"),
    ("sync", "--quiet"),
    ("learn", "--quiet"),
    ("warm", "build", "mine", "--min-messages", "0", "--weak"),
    ("doctor",),
)


class _Run:
    """The two machines and what was seen."""

    def __init__(self, size: Size, seed: int, folder: str) -> None:
        self.size = size
        self.chance = random.Random(seed)
        self.result = AttackResult()
        self.killed = Home(os.path.join(folder, "killed"))
        self.calm = Home(os.path.join(folder, "calm"))
        self.sessions = 0
        self.at_work = 0
        self.while_starting = 0
        """Interrupts before the program could handle them: Python itself shows where it was."""
        self.ends: list[float] = []

    def write_sessions(self, lines: int) -> None:
        """The same new sessions on both machines."""
        for _ in range(NEW_SESSIONS[self.size]):
            self.sessions += 1
            for home in (self.killed, self.calm):
                _write_session(home, self.sessions, lines)


def attack(size: Size, seed: int, folder: str) -> AttackResult:
    """Kill commands, the daemon and the migration of an old home, in turn."""
    run = _Run(size, seed, folder)
    progress = Progress("kills")
    ways: tuple[Callable[[_Run, int], None], ...] = (
        _kill_command,
        _kill_command,
        _kill_command,
        _kill_daemon,
        _kill_migration,
    )
    for number in range(ROUNDS[size]):
        progress(f"{number} of {ROUNDS[size]}, {run.at_work} of them at work")
        ways[number % len(ways)](run, number)
        run.result.tried += 1
    progress("the end of it all")
    _compare(run)
    left = processes_of(run.killed.folder)
    run.result.check(not left, f"seed {seed}: processes are left: {left}")
    progress.clear()
    run.result.figures |= {
        "killed at work": run.at_work,
        "interrupted while Python starts": run.while_starting,
        "sessions": run.sessions,
        "until gone ms p50/max": f"{percentile(run.ends, 0.5) * 1000:.0f}/{percentile(run.ends, 1.0) * 1000:.0f}",
    }
    return run.result


def _kill(run: _Run, process: "subprocess.Popen[bytes]", number: signal.Signals, reproduction: str) -> None:
    """Kill a process and wait until it and all of its group are gone."""
    run.at_work += process.poll() is None
    began = time.monotonic()
    process.send_signal(number)
    try:
        words = process.communicate(timeout=PATIENCE)[1].decode("utf-8", "replace")
    except subprocess.TimeoutExpired:
        run.result.broken.append(f"{reproduction}: it did not end within {PATIENCE:g} s")
        process.kill()
        return
    gone = wait_for(lambda: not processes_in_group(process.pid), PATIENCE)
    run.ends.append(time.monotonic() - began)
    run.result.check(gone, f"{reproduction}: processes are left: {processes_in_group(process.pid)}")
    is_starting = number == signal.SIGINT and words.rstrip().endswith("KeyboardInterrupt")
    run.while_starting += is_starting
    run.result.check("Traceback" not in words or is_starting, f"{reproduction}: {words[-400:]}")


def _kill_command(run: _Run, number: int) -> None:
    is_large = run.size == "full" and number % 10 == 0
    run.write_sessions(MANY_LINES if is_large else LINES)
    words = COMMANDS[0] if is_large else run.chance.choice(COMMANDS)
    wait, kind = run.chance.uniform(0.05, LATEST), run.chance.choice(SIGNALS)
    reproduction = f"round {number}: preheat {' '.join(words)}, {kind.name} after {wait:.2f} s"
    process = run.killed.start(*words)
    time.sleep(wait)
    _kill(run, process, kind, reproduction)
    _check_archive(run, reproduction)


def _check_archive(run: _Run, reproduction: str) -> None:
    """The archive is sound, and the next sync does not wait for a lock."""
    try:
        after = run.killed.run("sync", "--quiet", seconds=HUNG)
    except subprocess.TimeoutExpired:
        run.result.broken.append(f"{reproduction}: the next sync hangs")
        return
    words = after.stderr.decode("utf-8", "replace")
    run.result.check(
        after.returncode == 0, f"{reproduction}: the next sync ends with {after.returncode}: {words[-300:]}"
    )
    with closing(sqlite3.connect(archive_path(run.killed.folder))) as connection:
        (state,) = connection.execute("PRAGMA quick_check").fetchone()
    run.result.check(state == "ok", f"{reproduction}: the archive is damaged: {state}")


def _kill_daemon(run: _Run, number: int) -> None:
    """Kill a daemon between and during events; the next one has every event that was answered, once."""
    kind = run.chance.choice(SIGNALS)
    reproduction = f"round {number}: the daemon, {kind.name}"
    session = f"killed-{number}"
    first = RunningDaemon(run.killed)
    answered = 0
    for place in range(run.chance.randint(1, 60)):
        first.ask("claude_code", _call_event(session, place))
        answered += 1
    _kill(run, first.process, kind, reproduction)
    second = RunningDaemon(run.killed)
    second.ask("claude_code", _call_event(session, answered))
    second.ask("claude_code", _call_event(session, answered))  # the agent's program may have the hook twice
    second.stop()
    key = ("claude_code", session)
    stored = load_session(session_file(os.path.join(run.killed.folder, "live", "sessions"), key))
    calls = stored.state.calls if stored is not None else 0
    run.result.check(
        calls == answered + 1, f"{reproduction}: {answered + 1} events were answered and {calls} are there"
    )
    is_held = daemon_client.find_daemon(run.killed.folder) is not None
    run.result.check(not is_held, f"{reproduction}: the lock of the daemon is still held")


def _call_event(session: str, place: int) -> bytes:
    call = {"tool_name": "Bash", "tool_use_id": f"call-{place}", "tool_input": {"command": f"ls part{place}"}}
    answer = {"stdout": "a.py", "stderr": "", "interrupted": False}
    head = {"session_id": session, "cwd": "/w", "hook_event_name": "PostToolUse"}
    return json.dumps({**head, **call, "tool_response": answer}).encode()


def _kill_migration(run: _Run, number: int) -> None:
    """Kill the first command after an update from 0.1.0; the next one reads everything."""
    home = Home(os.path.join(run.killed.root, f"migration-{number}"))
    os.rmdir(home.folder)
    home_0_1_0.home(Path(home.folder))
    wait, kind = run.chance.uniform(0.05, LATEST), run.chance.choice(SIGNALS)
    reproduction = f"round {number}: migration, {kind.name} after {wait:.2f} s"
    process = home.start("doctor")
    time.sleep(wait)
    _kill(run, process, kind, reproduction)
    done = home.run("lessons", "list", "--all", "--json")
    try:
        found = [[each["id"], each.get("status", "active")] for each in json.loads(done.stdout)]
    except ValueError:
        found = []
    expected = [each[:2] for each in home_0_1_0.EXPECTED["said"]["lessons list --all"]]
    words = done.stderr.decode("utf-8", "replace")
    run.result.check(found == expected, f"{reproduction}: other lessons than before: {words[-300:]}")


def _compare(run: _Run) -> None:
    """Both machines have the same in their archives."""
    contents = []
    for home in (run.killed, run.calm):
        done = home.run("sync", "--quiet", seconds=2 * HUNG)
        words = done.stderr.decode("utf-8", "replace")[-300:]
        run.result.check(done.returncode == 0, f"the last sync ends with {done.returncode}: {words}")
        machine = Machine(os.path.join(home.root, "view"))
        machine.folder = home.folder
        found = machine.contents()
        found["bytes"] = sorted((os.path.relpath(str(path), home.home), size) for path, size in found["bytes"])
        contents.append(found)
    for name in contents[0]:
        run.result.check(
            contents[0][name] == contents[1][name],
            f"after all kills `{name}` has {len(contents[0][name])} rows, on the calm machine {len(contents[1][name])}",
        )


def _write_session(home: Home, number: int, lines: int) -> None:
    found = ClaudeTranscript(
        session=f"{number:08x}-2222-4000-8000-000000000000", project="/work/shop", started=1.7e9 + number
    )
    found = found.prompt(f"Make step {number} work")
    for call in range(20):
        found = found.answer("I run the tests.").run(f"pytest tests/part{call}", f"{number} passed in 0.1s\n" * lines)
    found.answer("Done.").write(os.path.join(home.home, ".claude", "projects"))
