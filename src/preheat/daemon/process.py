"""The daemon as a process: one of them, its lock, sockets, signals and log, and how it makes room for another version.

Knows nothing of what it serves. A daemon that finds that Preheat was changed puts the new one in its own place: lock and
sockets stay open over that, and whoever connects meanwhile only waits.
"""

import asyncio
import gc
import os
import signal
import socket
import time
from contextlib import suppress
from typing import IO, TypeAlias

import preheat
from preheat.app.live.hooks import Hooks
from preheat.app.live.settings import SETTINGS
from preheat.app.machine.daemon import SOCKET, Daemon
from preheat.daemon.budget import Budget
from preheat.daemon.engine import Engine
from preheat.daemon.server import Listening, Server, Times

HANDED = "PREHEAT_HANDED"
"""The lock and the sockets that a daemon gets from the one before it: their descriptors."""
LOG = 1_000_000
SETTLED = 3.0
"""Seconds without a change after which an installation is taken to be complete."""

Stamp: TypeAlias = tuple[int, int] | None


def serve(folder: str, exit_after: float) -> int:
    """Be the daemon until there is nothing more to do, or nothing came for so many seconds; 0 also if there is one already.
    Raises OSError."""
    os.umask(0o077)
    daemon = Daemon(folder)
    handed = [int(each) for each in os.environ.pop(HANDED, "").split(",") if each.isdigit()]
    lock = daemon.claim(handed[0] if handed else None)
    if lock is None:
        return 0
    with _log(daemon.live) as log:
        listening = _listening(daemon, handed[1:])
        print(f"{_now()} preheat {preheat.__version__} serves, process {os.getpid()}", file=log, flush=True)
        why = asyncio.run(_run(folder, daemon, listening, log, Times(exit_after=exit_after)))
        print(f"{_now()} ended: {why}", file=log, flush=True)
        if why.startswith("handing over"):
            _hand_over(daemon, lock, listening)
        _close(daemon.live, listening)
    return 0


async def _run(folder: str, daemon: Daemon, listening: Listening, log: IO[str], times: Times) -> str:
    hooks = Hooks(folder)
    engine = Engine(daemon.live, hooks, Budget())
    server = Server(daemon.live, engine, hooks, daemon.address(), log, times)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, server.stop, f"signal {number}")
    # What was made so far stays: looking through it again and again for garbage takes milliseconds.
    gc.collect()
    gc.freeze()
    await server.run(listening, Changes(folder).why)
    return server.why


class Changes:
    """Whether another Preheat was put in place of the one that runs, or its settings were changed."""

    def __init__(self, folder: str) -> None:
        self._daemon = Daemon(folder)
        self._settings = os.path.join(folder, SETTINGS)
        self._package = os.path.abspath(preheat.__file__)
        self._stamps = self._now()
        self._seen: Stamp = None
        self._since = 0.0

    def why(self) -> str:
        """The reason for another daemon; empty if there is none."""
        stamps = self._now()
        if stamps[1] != self._stamps[1]:
            self._stamps = (self._stamps[0], stamps[1], self._stamps[2])
            if version := self._daemon.successor():
                return f"handing over to preheat {version}"
        if stamps[2] != self._stamps[2]:
            return "handing over with other settings"
        if stamps[0] == self._stamps[0] or stamps[0] is None:
            return ""
        # Whoever installs has begun; when nothing has changed for a while, it is done.
        if stamps[0] != self._seen:
            self._seen, self._since = stamps[0], time.monotonic()
        return "handing over to what was installed" if time.monotonic() - self._since >= SETTLED else ""

    def _now(self) -> tuple[Stamp, Stamp, Stamp]:
        return _stamp(self._package), _stamp(os.path.join(self._daemon.live, "start")), _stamp(self._settings)


def _stamp(path: str) -> Stamp:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def _hand_over(daemon: Daemon, lock: int, listening: Listening) -> None:
    """Become the new daemon; if that cannot be, end, and the next hook starts one."""
    sockets = [each for each in (listening.unix, listening.http) if each is not None]
    descriptors = [lock, *(each.fileno() for each in sockets)]
    for descriptor in descriptors:
        os.set_inheritable(descriptor, True)
    os.environ[HANDED] = ",".join(map(str, descriptors))
    os.environ["PREHEAT_HOME"] = os.path.dirname(daemon.live)
    command = daemon.start_command()
    try:
        os.execv(command[0], command)  # noqa: S606 - a command of our own
    except OSError:
        return


def _listening(daemon: Daemon, handed: list[int]) -> Listening:
    """The sockets: those that were handed over, or new ones. Without a free port there is no HTTP, and the rest works."""
    if handed:
        found = [socket.socket(fileno=descriptor) for descriptor in handed]
        return Listening(found[0], found[1] if len(found) > 1 else None)
    # Bound from its own folder: a path of its own could be too long for a socket.
    os.chdir(daemon.live)
    if os.path.lexists(SOCKET):
        os.unlink(SOCKET)
    unix = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    unix.bind(SOCKET)
    os.chmod(SOCKET, 0o600)
    return Listening(unix, _http(daemon))


def _http(daemon: Daemon) -> socket.socket | None:
    for port in (daemon.address().port, 0):
        found = socket.socket()
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            found.bind(("127.0.0.1", port))
        except OSError:
            found.close()
            continue
        if not port:
            daemon.keep_port(found.getsockname()[1])
        return found
    return None


def _close(live: str, listening: Listening) -> None:
    for each in (listening.unix, listening.http):
        if each is not None:
            each.close()
    with suppress(OSError):  # whoever starts next removes it
        os.unlink(os.path.join(live, SOCKET))


def _log(live: str) -> IO[str]:
    path = os.path.join(live, "daemon.log")
    too_long = os.path.exists(path) and os.path.getsize(path) > LOG
    return open(path, "w" if too_long else "a", encoding="utf-8", errors="replace")


def _now() -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S")
