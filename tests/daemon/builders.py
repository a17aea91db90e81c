"""Hooks as an agent's program tells them, what was learned before, and real daemons and clients in a folder of their own.

Knows no signal.
"""

import atexit
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import preheat
from preheat import daemon_client, native_client
from preheat.app.learning import learn
from preheat.app.sessions.archive import sync
from preheat.files import write_atomically
from preheat.testing.builders import ClaudeTranscript
from tests.daemon import patient
from tests.daemon.patient import PatientTimeLimit as PatientTimeLimit
from tests.waiting import HUNG, until

AGENT = "claude_code"


def hook_payload(name: str, session: str = "s1", **more: Any) -> bytes:
    """One payload."""
    return json.dumps({"session_id": session, "hook_event_name": name, "cwd": "/work/shop", **more}).encode()


def started(session: str = "s1", source: str = "startup", **more: Any) -> bytes:
    return hook_payload("SessionStart", session, source=source, **more)


def prompted(text: str, session: str = "s1", **more: Any) -> bytes:
    return hook_payload("UserPromptSubmit", session, prompt=text, **more)


def edited(number: int, path: str, session: str = "s1", **more: Any) -> bytes:
    """A file changed by the call of that number."""
    return hook_payload(
        "PostToolUse", session, tool_name="Edit", tool_use_id=f"call-{number}",
        tool_input={"file_path": f"/work/shop/{path}", "old_string": f"old {number}", "new_string": f"new {number}"},
        tool_response={"filePath": f"/work/shop/{path}", "structuredPatch": []}, **more,
    )  # fmt: skip


def ran(number: int, command: str, output: str = "", session: str = "s1", failed: bool = False, **more: Any) -> bytes:
    """A command run by the call of that number."""
    call = {"tool_name": "Bash", "tool_use_id": f"call-{number}", "tool_input": {"command": command}}
    if failed:
        return hook_payload("PostToolUseFailure", session, **call, error=f"Exit code 1\n{output}", **more)
    return hook_payload(
        "PostToolUse", session, **call, tool_response={"stdout": output, "stderr": "", "interrupted": False}, **more
    )


def stopped(session: str = "s1", **more: Any) -> bytes:
    return hook_payload("Stop", session, **more)


# What earlier sessions found out.
WRONG, RIGHT = "pytest tests", "uv run pytest tests"
"""A command that fails in the project, and the one that works."""
MISSING = "bash: pytest: command not found"


def learned(folder: str, project: str, home: str) -> None:
    """An archive in which four sessions of the last days found out, each for itself, how a project's tests are run."""
    for number in range(1, 5):
        session = f"{number:08x}-1111-4000-8000-000000000000"
        found = ClaudeTranscript(session=session, project=project, started=time.time() - (6 - number) * 86400)
        found = found.prompt(f"Make checkout step {number} work").answer("I run the tests.").run(WRONG, MISSING, 127)
        found = found.answer("Another way.").run(RIGHT, f"{number + 4} passed in 0.1s").answer("I change it.")
        change = {"file_path": f"{project}/src/checkout.py", "old_string": "...", "new_string": f"return {number}"}
        found = found.call("Edit", change).result("The file has been updated.").answer("Once more.")
        found.run(RIGHT, f"{number + 5} passed in 0.2s").answer("Done.").write(
            os.path.join(home, ".claude", "projects")
        )
    sync(folder, {"HOME": home})
    learn(folder)


# Processes.
def environment(folder: str, **more: str) -> dict[str, str]:
    return {**os.environ, "PREHEAT_HOME": folder, "HOME": os.path.join(folder, "home"), **more}


class Daemon:
    """A real one, in its own process, that has all the time it needs."""

    def __init__(self, folder: str, *options: str) -> None:
        self.folder = folder
        os.makedirs(folder, exist_ok=True)
        self.process = subprocess.Popen(
            [sys.executable, "-P", patient.__file__, "serve", "--foreground", *options],
            env=environment(folder),
            stdin=subprocess.DEVNULL,
        )
        until(lambda: self.process.poll() is not None or self._answers(), "an answer of the daemon")
        assert self.process.poll() is None, f"the daemon ended with {self.process.poll()} instead of serving"

    def _answers(self) -> bool:
        try:
            return bool(daemon_client.status(self.folder, HUNG))
        except daemon_client.DaemonError:
            return False

    def ask(self, payload: bytes, agent: str = AGENT) -> bytes:
        return daemon_client.ask(agent, payload, self.folder, HUNG)

    def status(self) -> dict[str, Any]:
        return daemon_client.status(self.folder, HUNG)

    def kill(self) -> None:
        """As nobody can prepare for."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(HUNG)


@contextmanager
def daemon(folder: str, *options: str) -> Iterator[Daemon]:
    """A daemon for the time of a test."""
    found = Daemon(folder, *options)
    try:
        yield found
    finally:
        if found.process.poll() is None:
            found.stop()


def end_started(folder: str) -> None:
    """End the daemon that a client has started."""
    found = daemon_client.find_daemon(folder)
    if found is not None:
        os.kill(found.pid, signal.SIGKILL)
        daemon_client.wait_for_daemon(False, folder, HUNG)


def install_client(folder: str, start: list[str] | None = None) -> str:
    """The client as `preheat install` leaves it; with another command that starts a daemon, if one is given."""
    client = daemon_client.write_client(folder)
    if start is not None:
        write_atomically(os.path.join(folder, "live", "start"), "\n".join(("0", *start)).encode())
    return client


NEVER = 1000 * HUNG
"""A limit that nobody reaches: a client that waits for something that does not come is hung, and the test fails."""
BRIEF = 3.0
"""A limit that is reached, long enough for a busy machine to get that far."""
_CLIENT = """\
import sys
path, limit, replace, pause = sys.argv[1:5]
with open(path) as stream:
    text = stream.read()
run = 'exec(compile(text, path, "exec"), names)'
for old, new in (
    ("LIMIT = 1.2", f"LIMIT = {limit}"), ("ITIMER_REAL, 0.2", "ITIMER_REAL, 600"), ("PATIENCE = 30.0", "PATIENCE = 1e9"),
    (run, f"{run}; names.update(LIMIT={limit}, AGAIN=1e9, PAUSE={pause}, REPLACE={replace})"),
):
    assert text.count(old) == 1, old
    text = text.replace(old, new)
sys.argv = [path, *sys.argv[5:]]
exec(compile(text, path, "exec"))
"""


_SANITISED = ("-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")


@cache
def build_native_client(limit: float) -> str:
    """The native client with that limit; empty if there is no compiler. Where the compiler can build that, it ends with an error
    if it touches memory that is not its own. It stays until the tests have ended."""
    compiler = shutil.which("cc")
    if compiler is None or not native_client.find_loader():
        return ""
    folder = tempfile.mkdtemp(prefix="preheat-native-")
    os.chmod(folder, 0o755)  # some tests are another user
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    made = os.path.join(folder, "hook")
    source = os.path.join(os.path.dirname(os.path.abspath(preheat.__file__)), "plugins", "hook.c")
    for options in (_SANITISED, ()):
        words = [compiler, "-O1", "-Wall", "-Wextra", "-Werror", "-std=c11", f"-DLIMIT={limit}", "-DPATIENCE=1e9"]
        done = subprocess.run([*words, *options, "-o", made, source], capture_output=True)
        if done.returncode == 0:
            return made
    raise AssertionError(done.stderr.decode())


class TestedClient:
    """Which of the two clients `run_client` runs; the fixture `each_client` sets it."""

    is_native = False


def run_client(
    client: str,
    payload: bytes,
    agent: str = AGENT,
    python: str = sys.executable,
    limit: float = NEVER,
    replace: float = NEVER,
    pause: float = NEVER,
    **variables: str,
) -> bytes:
    """What the client prints; it must end with 0 and say nothing else. It is the one that is installed, with other limits: by
    how long it takes nobody can tell whether it waits, so it either must not or is `BRIEF`. A daemon that hung is replaced after
    `replace` seconds, one that ended after `pause`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PREHEAT")}
    words = [python, "-I", "-S", "-E", "-c", _CLIENT, client, str(limit), str(replace), str(pause), agent]
    if TestedClient.is_native:
        words.insert(0, os.path.join(os.path.dirname(client), "hook"))
    done = subprocess.run(
        words, executable=build_native_client(limit) if TestedClient.is_native else None,
        input=payload, capture_output=True, env={**kept, **variables}, timeout=HUNG,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout


def spooled_files(folder: str) -> list[str]:
    """The events that wait for a daemon, without the count of those that found no room."""
    found = os.path.join(folder, "live", "spool")
    return sorted(set(os.listdir(found)) - {"lost"}) if os.path.isdir(found) else []


def no_start() -> list[str]:
    """A command that starts nothing."""
    return [shutil.which("true") or "/bin/true"]
