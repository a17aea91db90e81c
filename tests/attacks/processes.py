"""The real command and the real daemon as an attack runs them: in a home of their own, with the limits that people get.

Knows no attack.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from preheat import daemon_client
from tests.attacks.attack import memory_of
from tests.shared import TESTS
from tests.waiting import HUNG

CHECKOUT = os.path.dirname(TESTS)


def _import_path() -> str:
    """The checkout, after what the caller wants to attack instead of it."""
    return os.pathsep.join(each for each in (os.environ.get("PYTHONPATH", ""), CHECKOUT) if each)


class Home:
    """A home folder with Preheat's own folder in it."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.home = os.path.join(root, "home")
        self.folder = os.path.join(root, "preheat")
        for path in (self.home, self.folder):
            os.makedirs(path, mode=0o700, exist_ok=True)

    @property
    def variables(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PREHEAT", "XDG_"))}
        return {**kept, "HOME": self.home, "PREHEAT_HOME": self.folder, "PYTHONPATH": _import_path()}

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "preheat", *words]

    def run(
        self, *words: str, seconds: float = HUNG, preexec_fn: Callable[[], None] | None = None
    ) -> "subprocess.CompletedProcess[bytes]":
        """Run a command to its end; one that takes longer than `seconds` is hung, and raises TimeoutExpired. `preexec_fn` runs
        in the new process before the command."""
        return subprocess.run(
            self.command(*words),
            env=self.variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=seconds,
            preexec_fn=preexec_fn,
        )

    def start(self, *words: str) -> "subprocess.Popen[bytes]":
        """Start a command in a session of its own, so that what it leaves behind can be found."""
        return subprocess.Popen(
            self.command(*words),
            env=self.variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )


class RunningDaemon:
    """A real daemon with its real limits."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self.process = home.start("serve", "--foreground")
        if daemon_client.wait_for_daemon(True, home.folder, 60.0) is None:
            raise RuntimeError(f"the daemon does not start: {self._words()}")

    def _words(self) -> str:
        self.process.kill()
        return self.process.communicate()[1].decode("utf-8", "replace")[-400:]

    def ask(self, agent: str, payload: bytes, seconds: float = HUNG) -> bytes:
        return daemon_client.ask(agent, payload, self._home.folder, seconds)

    def status(self) -> dict[str, Any]:
        return daemon_client.status(self._home.folder, HUNG)

    def memory(self) -> int:
        return memory_of(self.process.pid)

    def runs(self) -> bool:
        return self.process.poll() is None

    def stop(self) -> None:
        if self.runs():
            self.process.send_signal(signal.SIGTERM)
        try:
            self.process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()


@contextmanager
def running_daemon(home: Home) -> Iterator[RunningDaemon]:
    found = RunningDaemon(home)
    try:
        yield found
    finally:
        found.stop()


def processes_in_group(group: int) -> list[int]:
    """The processes of a session or group that still run; none where that cannot be known."""
    found = []
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as stream:
                fields = stream.read().rpartition(b")")[2].split()
        except OSError:
            continue
        if fields[0] != b"Z" and group in (int(fields[2]), int(fields[3])):
            found.append(int(name))
    return found


def processes_of(folder: str) -> list[int]:
    """The processes whose environment names that folder as Preheat's; none where that cannot be known."""
    wanted = f"PREHEAT_HOME={folder}".encode()
    found = []
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            with open(f"/proc/{name}/environ", "rb") as stream:
                variables = stream.read().split(b"\0")
            with open(f"/proc/{name}/stat", "rb") as stream:
                state = stream.read().rpartition(b")")[2].split()[0]
        except OSError:
            continue
        if wanted in variables and state != b"Z":
            found.append(int(name))
    return found


def wait_for(condition: Callable[[], object], seconds: float) -> bool:
    """Whether the condition came true in that time."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True
