"""The daemon process: its lock, sockets, signals and log, and how it hands over to a new version.

A daemon that finds Preheat or its settings changed replaces itself by a new one: lock and sockets stay open, and connections
wait meanwhile. Knows nothing of what it serves.
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
from preheat.app.daemon import SOCKET, Daemon
from preheat.app.live.hooks import Hooks
from preheat.app.live.settings import SETTINGS
from preheat.daemon.engine import Engine, TimeLimit
from preheat.daemon.server import ListeningSockets, Server, Timeouts

HANDOVER_VARIABLE = "PREHEAT_HANDED"
"""The environment variable with the descriptors of the lock and sockets that a new daemon takes over."""
MOST_LOG_BYTES = 1_000_000
SETTLE_SECONDS = 3.0
"""Seconds without a change after which an installation is complete."""

Stamp: TypeAlias = tuple[int, int] | None


def serve(folder: str, exit_after: float) -> int:
    """Run the daemon until it is stopped or no event came for so many seconds; 0 also if another daemon runs. Raises OSError."""
    os.umask(0o077)
    daemon = Daemon(folder)
    handed = [int(each) for each in os.environ.pop(HANDOVER_VARIABLE, "").split(",") if each.isdigit()]
    lock = daemon.claim(handed[0] if handed else None)
    if lock is None:
        return 0
    with _open_log(daemon.files_folder) as log:
        listening = _open_sockets(daemon, handed[1:])
        print(f"{_now()} preheat {preheat.__version__} serves, process {os.getpid()}", file=log, flush=True)
        reason = asyncio.run(_run(folder, daemon, listening, log, Timeouts(exit_after=exit_after)))
        print(f"{_now()} ended: {reason}", file=log, flush=True)
        if reason.startswith("handing over"):
            _hand_over(daemon, lock, listening)
        _close(daemon.files_folder, listening)
    return 0


async def _run(folder: str, daemon: Daemon, listening: ListeningSockets, log: IO[str], times: Timeouts) -> str:
    hooks = Hooks(folder)
    engine = Engine(daemon.files_folder, hooks, TimeLimit())
    server = Server(daemon.files_folder, engine, hooks, daemon.address(), log, times)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, server.stop, f"signal {number}")
    # Objects made so far stay for good: excluding them saves milliseconds per garbage collection.
    gc.collect()
    gc.freeze()
    await server.run(listening, ReplacementWatch(folder).reason)
    return server.stop_reason


class ReplacementWatch:
    """Watches whether another Preheat was installed, or the settings were changed."""

    def __init__(self, folder: str) -> None:
        self._daemon = Daemon(folder)
        self._settings = os.path.join(folder, SETTINGS)
        self._package = os.path.abspath(preheat.__file__)
        self._stamps = self._now()
        self._seen: Stamp = None
        self._since = 0.0

    def reason(self) -> str:
        """Why another daemon should take over; empty if none should."""
        stamps = self._now()
        if stamps[1] != self._stamps[1]:
            self._stamps = (self._stamps[0], stamps[1], self._stamps[2])
            if version := self._daemon.successor_version():
                return f"handing over to preheat {version}"
        if stamps[2] != self._stamps[2]:
            return "handing over with other settings"
        if stamps[0] == self._stamps[0] or stamps[0] is None:
            return ""
        # An installation has begun; it is complete when nothing changed for a while.
        if stamps[0] != self._seen:
            self._seen, self._since = stamps[0], time.monotonic()
        return "handing over to what was installed" if time.monotonic() - self._since >= SETTLE_SECONDS else ""

    def _now(self) -> tuple[Stamp, Stamp, Stamp]:
        return _stamp(self._package), _stamp(os.path.join(self._daemon.files_folder, "start")), _stamp(self._settings)


def _stamp(path: str) -> Stamp:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def _hand_over(daemon: Daemon, lock: int, listening: ListeningSockets) -> None:
    """Replace this process by the new daemon; if that fails, the next hook starts one."""
    sockets = [each for each in (listening.unix, listening.http) if each is not None]
    descriptors = [lock, *(each.fileno() for each in sockets)]
    for descriptor in descriptors:
        os.set_inheritable(descriptor, True)
    os.environ[HANDOVER_VARIABLE] = ",".join(map(str, descriptors))
    os.environ["PREHEAT_HOME"] = os.path.dirname(daemon.files_folder)
    command = daemon.start_command()
    try:
        os.execv(command[0], command)  # noqa: S606 - a command of our own
    except OSError:
        return


def _open_sockets(daemon: Daemon, handed: list[int]) -> ListeningSockets:
    """The sockets that were handed over, or new ones; without HTTP if no port is free."""
    if handed:
        found = [socket.socket(fileno=descriptor) for descriptor in handed]
        return ListeningSockets(found[0], found[1] if len(found) > 1 else None)
    # Bound by its name from its own folder: the whole path could be too long for a socket.
    os.chdir(daemon.files_folder)
    if os.path.lexists(SOCKET):
        os.unlink(SOCKET)
    unix = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    unix.bind(SOCKET)
    os.chmod(SOCKET, 0o600)
    return ListeningSockets(unix, _open_http(daemon))


def _open_http(daemon: Daemon) -> socket.socket | None:
    for port in (daemon.address().port, 0):
        found = socket.socket()
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            found.bind(("127.0.0.1", port))
        except OSError:
            found.close()
            continue
        if not port:
            daemon.store_port(found.getsockname()[1])
        return found
    return None


def _close(live: str, listening: ListeningSockets) -> None:
    for each in (listening.unix, listening.http):
        if each is not None:
            each.close()
    with suppress(OSError):  # the next daemon removes it
        os.unlink(os.path.join(live, SOCKET))


def _open_log(live: str) -> IO[str]:
    path = os.path.join(live, "daemon.log")
    too_long = os.path.exists(path) and os.path.getsize(path) > MOST_LOG_BYTES
    return open(path, "w" if too_long else "a", encoding="utf-8", errors="replace")


def _now() -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S")
