"""The plugin's line to Preheat's daemon: one event over its Unix socket, one answer back, within a limit; never an error.

Standard library only. Knows nothing of events. Many threads may ask at once, and the program's own folder is never changed. When
nobody answers, the event goes to the hook client (`hook.py`) in a process of its own, which keeps it and starts a daemon.
"""

import json
import os
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .program import CALLER, Program

AGENT = "hermes"
LIMIT = 0.3
"""Seconds that an event may take."""
START = 3.0
"""Seconds at the start of a session, because a daemon may have to come up first."""
PATIENCE = 30.0
"""Seconds that nobody waits for an answer after `STRIKES` of them in a row came too late."""
STRIKES = 2
_MOST = 7_000_000
_CLIENTS = 16
"""Hook clients at a time; what comes on top of them is given up."""
_LONGEST_PATH = 100
"""Of a socket."""


class Daemon:
    """The daemon, as far as one can see it from here."""

    def __init__(self, program: Program, folder: str | None = None) -> None:
        self._program = program
        self._folder = folder if folder is not None else _folder(program)
        self._lock = threading.Lock()
        self._late = 0
        self._quiet_until = 0.0
        self._clients: list[subprocess.Popen[bytes]] = []

    def ask(self, event: dict[str, Any], seconds: float = LIMIT, start: bool = False) -> dict[str, Any]:
        """The answer; empty where there is none in time. At the `start` of a session a daemon is waited for."""
        if not self._folder:
            return {}
        payload = json.dumps(event, default=str).encode("utf-8", "replace")
        if len(payload) > _MOST:
            return {}
        before = time.monotonic()
        if before < self._quiet_until:
            self._handed_over(payload)
            return {}
        try:
            answer = self._asked(payload, before + seconds)
        except TimeoutError:
            self._came_late()
            self._handed_over(payload)
            return {}
        except OSError:  # there is none
            return _read(self._handed_over(payload, max(0.0, before + seconds - time.monotonic()) if start else 0.0))
        self._late = 0
        return _read(answer)

    def _came_late(self) -> None:
        with self._lock:
            self._late += 1
            if self._late >= STRIKES:
                self._late = 0
                self._quiet_until = time.monotonic() + PATIENCE

    def _asked(self, payload: bytes, end: float) -> bytes:
        answer = b""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(_left(end))
            with _reachable(os.path.join(self._folder, "live")) as live:
                connection.connect(os.path.join(live, "socket"))
            connection.settimeout(_left(end))
            connection.sendall(b"%s %d\n" % (AGENT.encode(), len(payload)) + payload)
            while True:
                connection.settimeout(_left(end))
                more = connection.recv(1 << 16)
                if not more:
                    break
                answer += more
        head, _, body = answer.partition(b"\n")
        if head != b"preheat 1 %d" % len(body):
            raise ConnectionError("it ended without an answer")
        return body

    def _handed_over(self, payload: bytes, seconds: float = 0.0) -> bytes:
        """Give an event to the hook client; what it prints, if that is waited for."""
        client = self._client()
        with self._lock:
            self._clients = [each for each in self._clients if each.poll() is None]
            if client is None or len(self._clients) >= _CLIENTS:
                return b""
        # In a file: a client that does not read must not hold up whoever writes.
        with tempfile.TemporaryFile() as given:
            given.write(payload)
            given.seek(0)
            environment = self._program.environment(PREHEAT_HOME=self._folder)
            environment.pop(CALLER, None)
            process = subprocess.Popen(
                [self._program.interpreter, "-I", "-S", "-E", client, AGENT],
                stdin=given,
                stdout=subprocess.PIPE if seconds else subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=environment,
                start_new_session=True,
            )
        if not seconds:
            with self._lock:
                self._clients.append(process)
            return b""
        try:
            return process.communicate(timeout=seconds)[0]
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return b""

    def _client(self) -> str | None:
        """The hook client: where `preheat install` has put it, else in the package that we are a part of."""
        package = os.path.abspath(__file__)
        for _ in range(4):  # preheat/agents/hermes/plugin/wire.py
            package = os.path.dirname(package)
        for path in (os.path.join(self._folder, "hook.py"), os.path.join(package, "plugins", "hook.py")):
            if os.path.isfile(path):
                return path
        return None


def _left(end: float) -> float:
    left = end - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


@contextmanager
def _reachable(folder: str) -> Iterator[str]:
    """A name of a folder that is short enough for a socket in it."""
    if len(os.fsencode(folder)) + len("/socket") < _LONGEST_PATH:
        yield folder
    elif os.path.isdir("/proc/self/fd"):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            yield f"/proc/self/fd/{descriptor}"
        finally:
            os.close(descriptor)
    else:
        with tempfile.TemporaryDirectory(prefix="ph") as short:
            link = os.path.join(short, "l")
            os.symlink(folder, link)
            yield link


def _folder(program: Program) -> str:
    """Preheat's folder: as the environment says, else the installation, else Preheat's own settings."""
    named = os.environ.get("PREHEAT_HOME") or program.home
    if named:
        return os.path.abspath(os.path.expanduser(named))
    try:
        from preheat.settings import data_folder  # noqa: PLC0415 - there only as an installed package
    except ImportError:
        return ""
    return data_folder()


def _read(answer: bytes) -> dict[str, Any]:
    if not answer:
        return {}
    try:
        found = json.loads(answer)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
