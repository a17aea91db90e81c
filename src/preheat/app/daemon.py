"""The daemon that the agents' hooks talk to: status, start, stop; and what the daemon process itself needs of its folder.

Knows nothing of its answers (`app.live.hooks`). Light: a hook may be waiting for the daemon to start.
"""

import os
import signal
import subprocess
import time
from contextlib import suppress
from typing import Any, NamedTuple

from preheat import __version__, daemon_client, native_client
from preheat.daemon_client import (
    LAST_SEEN_FILE,
    SLOW_FILE,
    SOCKET,
    STATUS,
    TEST_EVENT,
    Address,
    DaemonError,
    DaemonProcess,
    status,
    wait_for_daemon,
)
from preheat.errors import UserError
from preheat.settings import environment_for

__all__ = [
    "LAST_SEEN_FILE",
    "SLOW_FILE",
    "SOCKET",
    "STATUS",
    "TEST_EVENT",
    "Address",
    "Daemon",
    "DaemonProcess",
    "RunningDaemon",
]

_START_SECONDS = 8.0
_HANDOVER_SECONDS = 4.0
_ANSWER_SECONDS = 5.0
_END_SECONDS = 3.0


class RunningDaemon(NamedTuple):
    """The daemon that runs now."""

    holder: DaemonProcess
    was_running: bool
    """Whether it was running before."""


class Daemon:
    """The daemon of one folder; at most one runs."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self.files_folder = daemon_client.live_folder(folder)
        """The folder of its files."""

    # For commands.
    def process(self) -> DaemonProcess | None:
        """The process of the running daemon; None if none runs."""
        return daemon_client.find_daemon(self._folder)

    def status(self) -> dict[str, Any]:
        """Whether a daemon runs, what it reports, and what is wrong with it (`troubles`)."""
        process = self.process()
        if process is None:
            return {"running": False}
        try:
            return {"running": True, **status(self._folder)}
        except DaemonError as error:
            return {"running": True, "troubles": [f"process {process.pid} does not answer: {error}"]}

    def start(self) -> RunningDaemon:
        """Start a daemon of this version unless it runs. Raises UserError."""
        try:
            self._prepare()
        except OSError as error:
            raise _unusable(error, self._folder) from error
        process = self.process()
        if process is not None and process.version == __version__:
            if self._answers():
                return RunningDaemon(process, was_running=True)
            self._end(process)
            process = None
        if process is not None:
            self._replace(process)
        if self.process() is None:
            subprocess.Popen(
                daemon_client.start_command(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                env=environment_for(self._folder),
            )
        process = wait_for_daemon(True, self._folder, _START_SECONDS)
        if process is None:
            raise UserError(f"it did not start; `{os.path.join(self.files_folder, 'daemon.log')}` may say why")
        return RunningDaemon(process, was_running=False)

    def _replace(self, old: DaemonProcess) -> None:
        """Wait until a daemon of another version makes room by itself; end it if it does not."""
        end = time.monotonic() + _HANDOVER_SECONDS
        while (now := self.process()) == old and time.monotonic() < end:
            time.sleep(0.05)
        if now == old:
            self._end(old)

    def _answers(self) -> bool:
        """Whether the running daemon answers; one that is stopped or hangs does not."""
        try:
            return bool(status(self._folder, _ANSWER_SECONDS))
        except DaemonError:
            return False

    def _end(self, old: DaemonProcess) -> DaemonProcess | None:
        """End a daemon, by force if it does not end by itself; nothing is lost by that. Gives the one that runs then."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError):
                os.kill(old.pid, number)
            left = wait_for_daemon(False, self._folder, _END_SECONDS)
            if left is None or left.pid != old.pid:
                return left
        return left

    def stop(self) -> bool:
        """Stop the running daemon; whether one ran. Raises UserError if it does not end."""
        process = self.process()
        if process is None:
            return False
        left = self._end(process)
        if left is not None and left.pid == process.pid:
            raise UserError(f"process {process.pid} does not end; see what it waits for, then stop it again")
        return True

    def address(self) -> Address:
        """The port and token of its HTTP address, made if there is none. Raises UserError."""
        try:
            return daemon_client.ensure_address(self._folder)
        except OSError as error:
            raise _unusable(error, self._folder) from error

    # For the daemon process. All of these raise OSError.
    def _prepare(self) -> None:
        daemon_client.write_start(daemon_client.prepare_folder(self._folder))

    def claim(self, handed: int | None = None) -> int | None:
        """Take the lock of the daemon, which the operating system frees when the process ends; None if another process has it.
        `handed` is the lock that the daemon before passed on."""
        lock = handed if handed is not None else daemon_client.take_lock(daemon_client.prepare_folder(self._folder))
        if lock is None:
            return None
        daemon_client.sign_lock(lock)
        self._prepare()
        if os.path.exists(os.path.join(self._folder, daemon_client.CLIENT_FILES[0])):
            daemon_client.write_client(self._folder)
        return lock

    def build_client(self) -> None:
        """Build the native hook client where the Python one is installed and this version has not tried it yet."""
        if os.path.exists(os.path.join(self._folder, daemon_client.CLIENT_FILES[0])):
            native_client.build(self._folder)

    def owns(self, lock: int) -> bool:
        """Whether its folder is still the one of a lock."""
        return daemon_client.is_lock_of(lock, self.files_folder)

    def store_port(self, port: int) -> None:
        """Store the port at which it takes HTTP posts."""
        daemon_client.write_address(self.files_folder, daemon_client.ensure_address(self._folder)._replace(port=port))

    def successor_version(self) -> str:
        """The version of a newer daemon that was started meanwhile; empty if there is none."""
        started = daemon_client.read_start(self.files_folder)
        return started.partition("\n")[0] if started and started != daemon_client.start_text() else ""

    def start_command(self) -> list[str]:
        """The command that starts the newest daemon."""
        return daemon_client.read_start(self.files_folder).rstrip("\n").split("\n")[1:] or daemon_client.start_command()


def _unusable(error: OSError, folder: str) -> UserError:
    return UserError(f"`{error.filename or folder}` cannot be used: {error.strerror}")
