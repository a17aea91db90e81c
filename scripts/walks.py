"""Which files of the package a piece of work enters, in the order in which it first does: recorded while it really runs.

    python scripts/walks.py sync          read one transcript into an archive
    python scripts/walks.py learn         learn from it
    python scripts/walks.py transcript    from a transcript to what a new session is given: sync, learn, warm start
    python scripts/walks.py hook          from the bytes of a hook to the daemon's answer: after a failed command

A file is entered when one of its functions runs; what happens on import does not count. Runs in folders of its own.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from inspect import CO_OPTIMIZED
from types import FrameType
from typing import Any

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FIXTURES = os.path.join(ROOT, "tests", "fixtures")
TASK = "Make a greeting file."
PATIENCE = 120.0
ENTERED = "entered-"
"""The beginning of the names of the files in which the daemon writes down what it entered."""
TIMER_FILES = ("daemon/idle.py", "daemon/process.py", "daemon_client.py", "files.py", "locking.py", "settings.py")
"""Files that the daemon's clocks enter now and then, whatever event there is."""


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back
    return False


class Recorder:
    """The files that were entered so far."""

    def __init__(self, package: str) -> None:
        self._package = package
        self.entered: dict[str, None] = {}

    def note(self, frame: FrameType, event: str, _: Any) -> None:
        path = frame.f_code.co_filename
        if event != "call" or not path.startswith(self._package) or not frame.f_code.co_flags & CO_OPTIMIZED:
            return  # neither a module's own code nor a class's
        name = os.path.relpath(path, self._package)
        if name not in self.entered and not _is_importing(frame):
            self.entered[name] = None

    def start(self) -> None:
        threading.setprofile(self.note)
        sys.setprofile(self.note)

    def stop(self) -> list[str]:
        sys.setprofile(None)
        threading.setprofile(None)
        return list(self.entered)


def recorder() -> Recorder:
    import preheat

    return Recorder(os.path.dirname(os.path.abspath(preheat.__file__)) + os.sep)


def run_commands(recorded: list[list[str]], before: list[list[str]]) -> list[str]:
    """The files that some commands enter together, after others."""
    from preheat.cli.run import main

    found = recorder()
    for command in before:
        main(command)
    found.start()
    for command in recorded:
        main(command)
    return found.stop()


def run_hook(home: str) -> list[str]:
    """The files that the daemon enters from the arrival of an event to its answer. The daemon is a child of this process: it
    ends without returning, so it writes down what it entered at each signal."""
    with open(os.path.join(FIXTURES, "hooks", "codex.jsonl"), "rb") as stream:
        events = stream.read().splitlines()
    daemon = os.fork()
    if not daemon:
        _be_recorded_daemon(home)
    try:
        _send(home, events, daemon)
    finally:
        os.kill(daemon, signal.SIGTERM)
        os.waitpid(daemon, 0)
    times = []
    for name in sorted(name for name in os.listdir(home) if name.startswith(ENTERED)):
        with open(os.path.join(home, name), encoding="utf-8") as stream:
            times.append(stream.read().split())
    if not times:
        raise SystemExit("walks: the daemon has recorded nothing")
    every = [path for path in times[0] if all(path in other for other in times) and not path.startswith(TIMER_FILES)]
    return ["plugins/hook.py", *every]


def _be_recorded_daemon(home: str) -> None:
    """Serve until ended; what was entered between two signals is in a file for each second one. Does not return."""
    from preheat.cli.run import main

    found = recorder()
    written = 0

    def begin_or_end(number: int, _: FrameType | None) -> None:
        nonlocal written
        if number == signal.SIGUSR2:
            written += 1
            with open(os.path.join(home, f"{ENTERED}{written}"), "w", encoding="utf-8") as stream:
                stream.write("\n".join(found.entered))
        found.entered.clear()

    signal.signal(signal.SIGUSR1, begin_or_end)
    signal.signal(signal.SIGUSR2, begin_or_end)
    found.start()
    try:
        main(["serve", "--foreground"])
    finally:
        os._exit(1)


def _send(home: str, events: list[bytes], daemon: int) -> None:
    """Have a session told by the real client; only what follows on a failed command is recorded, three times."""
    package = subprocess.run(
        [sys.executable, "-c", "import preheat; print(preheat.__path__[0])"], capture_output=True, text=True, check=True
    ).stdout.strip()
    for name in ("plugins/hook.py", "plugins/hook_away.py", "ownership.py"):
        shutil.copy(os.path.join(package, name), home)
    until = time.monotonic() + PATIENCE
    while not os.path.exists(os.path.join(home, "live", "socket")) and time.monotonic() < until:
        time.sleep(0.05)
    for event in events[:3]:
        _run_client(home, event)
    for number in range(3):
        time.sleep(1.0)  # what the events before it set going in threads is over
        os.kill(daemon, signal.SIGUSR1)
        time.sleep(0.2)
        _run_client(home, events[3].replace(b"call_1", b"call_%d" % (number + 1)))
        time.sleep(1.0)  # what the daemon does after its answer belongs to it, too
        os.kill(daemon, signal.SIGUSR2)
        time.sleep(0.2)


def _run_client(home: str, event: bytes) -> None:
    client = [sys.executable, "-I", "-S", "-E", os.path.join(home, "hook.py"), "codex"]
    subprocess.run(client, input=event, check=True, stdout=subprocess.DEVNULL)


def main() -> int:
    name = sys.argv[1]
    with tempfile.TemporaryDirectory() as home:
        os.environ.update(PREHEAT_HOME=home, HOME=home, PREHEAT_NO_COLOUR="1")
        os.chdir(home)
        transcripts = os.path.join(FIXTURES, "codex")
        out = os.dup(1)
        with open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), 1)
            sync, learn = ["sync", transcripts], ["learn"]
            if name == "hook":
                entered = run_hook(home)
            else:
                walks = {
                    "sync": ([sync], []),
                    "learn": ([learn], [sync]),
                    "transcript": ([sync, learn, ["warm", "start", "--task", TASK]], []),
                }
                entered = run_commands(*walks[name])
            sys.stdout.flush()
            os.dup2(out, 1)
    print("\n".join(entered))
    return 0


if __name__ == "__main__":
    sys.exit(main())
