"""The daemon process: its lock, sockets, signals and log, and how it hands over to a new version.

A daemon that finds Preheat or its settings changed replaces itself by a new one: lock and sockets stay open, and connections
wait meanwhile. Knows nothing of what it serves.
"""

import asyncio
import faulthandler
import gc
import os
import signal
import socket
import time
from contextlib import suppress
from types import FrameType
from typing import IO, TypeAlias

import preheat
from preheat.app.daemon import SOCKET, Daemon
from preheat.app.live.hooks import Hooks
from preheat.app.live.settings import SETTINGS
from preheat.daemon import server as serving
from preheat.daemon.engine import Engine
from preheat.daemon.server import ListeningSockets, Server, Timeouts, write_line
from preheat.daemon.time_limit import TimeLimit
from preheat.files import open_private

HANDOVER_VARIABLE = "PREHEAT_HANDED"
"""The environment variable with the descriptors of the lock and sockets that a new daemon takes over."""
MOST_LOG_BYTES = 1_000_000
STOP_LIMIT = 0.9
"""Seconds for everything after open requests were answered, when the daemon ends."""
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
        write_line(log, f"preheat {preheat.__version__} serves, process {os.getpid()}")
        watch = ReplacementWatch(folder, lock)
        reason = asyncio.run(_run(folder, daemon, listening, log, Timeouts(exit_after=exit_after), watch))
        write_line(log, f"ended: {reason}")
        if reason.startswith("handing over"):
            _hand_over(daemon, lock, listening)
        _close(daemon, lock, listening)
    os._exit(0)  # a thread that reads something slow must not keep the process


async def _run(
    folder: str,
    daemon: Daemon,
    listening: ListeningSockets,
    log: IO[str],
    times: Timeouts,
    watch: "ReplacementWatch",
) -> str:
    hooks = Hooks(folder)
    engine = Engine(daemon.files_folder, hooks, TimeLimit())
    server = Server(daemon.files_folder, engine, hooks, daemon.address(), log, times)
    _stop_on_signals(asyncio.get_running_loop(), server, log)
    # Objects made so far stay for good: excluding them saves milliseconds per garbage collection.
    gc.collect()
    gc.freeze()
    await server.run(listening, watch.reason)
    end_within(STOP_LIMIT, log)
    return server.stop_reason


def _stop_on_signals(loop: asyncio.AbstractEventLoop, server: Server, log: IO[str]) -> None:
    """End on a signal, whatever the loop is doing: its own handlers would wait for a loop that hangs in a system call."""

    def stop(number: int, frame: FrameType | None) -> None:
        end_within(serving.STOP_SECONDS + STOP_LIMIT, log)
        loop.call_soon_threadsafe(server.stop, f"signal {number}")

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, stop)


def end_within(seconds: float, log: IO[str]) -> None:
    """End this process after so many seconds, whatever it does then; the log says where it was."""
    if hasattr(faulthandler, "dump_traceback_later"):
        faulthandler.dump_traceback_later(seconds, exit=True, file=log)


class ReplacementWatch:
    """Watches whether another Preheat was installed, the settings were changed, or the daemon's folder is gone."""

    def __init__(self, folder: str, lock: int) -> None:
        self._daemon = Daemon(folder)
        self._lock = lock
        self._settings = os.path.join(folder, SETTINGS)
        self._package = os.path.abspath(preheat.__file__)
        self._stamps = self._now()
        self._seen: Stamp = None
        self._since = 0.0

    def reason(self) -> str:
        """Why this daemon should end or another one take over; empty if neither."""
        if not self._daemon.owns(self._lock):
            return "its folder is gone"
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


def _close(daemon: Daemon, lock: int, listening: ListeningSockets) -> None:
    for each in (listening.unix, listening.http):
        if each is not None:
            each.close()
    if daemon.owns(lock):  # else the socket there is another daemon's
        with suppress(OSError):  # the next daemon removes it
            os.unlink(os.path.join(daemon.files_folder, SOCKET))


def _open_log(live: str) -> IO[str]:
    path = os.path.join(live, "daemon.log")
    too_long = os.path.exists(path) and os.path.getsize(path) > MOST_LOG_BYTES
    descriptor = open_private(path, os.O_WRONLY | os.O_APPEND | (os.O_TRUNC if too_long else 0))
    return open(descriptor, "a", encoding="utf-8", errors="replace")
