"""Work for quiet times, at low priority: syncing, learning, indexing working trees, the native hook client after an upgrade, and
pushes to the team where the person wants that.

A process of its own, because in the daemon it would slow hooks down (measured: from 0.4 ms to 12). It ends with the daemon.
Knows nothing of sessions.
"""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

from preheat.app import open as open_home
from preheat.app.daemon import Daemon
from preheat.processes import start_guarded
from preheat.programs import own_command
from preheat.settings import data_folder

QUIET = 60.0
"""Seconds without an event before the work starts."""
AGAIN = 600.0
"""Seconds between two starts, at least."""
QUIET_AFTER_SESSION = 5.0
"""Seconds without an event after the end of a session: the next one should have its lessons."""
SOON_AGAIN = 60.0
"""Seconds between two starts after the end of a session."""
NICE = 10
COMMANDS = (("sync", "--quiet"), ("lessons", "learn", "--quiet"), ("admin", "tree", "update", "--quiet"))
FOR_TEAM = (("team", "push", "--quiet"), ("team", "pull", "--quiet"))
LONGEST = 1800.0
"""Seconds that a push or a pull may take: a server that never answers must not keep the other work from its next run."""


class IdleWork:
    """Starts the work when it is due, and knows whether it runs. Times are of a monotonic clock."""

    def __init__(self, log: int, quiet: float = QUIET, again: float = AGAIN) -> None:
        self._log = log
        self._quiet = quiet
        self._again = again
        self._started_at = -again
        self._events_at_start = 0
        self._session_ended = False
        self._process: subprocess.Popen[bytes] | None = None

    def note_session_end(self) -> None:
        """Note that a session ended: the work is due sooner."""
        self._session_ended = True

    def start_if_due(self, now: float, last_event: float, events: int) -> bool:
        """Start the work if it is due: there were events since the last start, and none recently. True if a run just ended."""
        if self._process is not None:
            if self._process.poll() is None:
                return False
            self._process = None
            return True
        quiet = min(self._quiet, QUIET_AFTER_SESSION) if self._session_ended else self._quiet
        again = min(self._again, SOON_AGAIN) if self._session_ended else self._again
        if events != self._events_at_start and now - last_event >= quiet and now - self._started_at >= again:
            self._started_at = now
            self._session_ended = False
            self._events_at_start = events
            self._process = start_guarded(
                own_command(module="preheat.daemon.idle"),
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=self._log,
            )
            if hasattr(os, "setpriority"):
                with suppress(OSError):
                    os.setpriority(os.PRIO_PGRP, self._process.pid, NICE)
        return False

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def stop(self) -> None:
        """End the work; the next run continues it."""
        if self._process is not None and self._process.poll() is None:
            with suppress(OSError):
                os.killpg(self._process.pid, signal.SIGKILL)  # a sync can be killed at any moment
            self._process.wait()


def main() -> int:
    """Do the work, in the process of low priority."""
    Daemon(data_folder()).build_client()
    for command in COMMANDS:
        code = _run(command)
        if code > 1:
            return code
    for command in FOR_TEAM if open_home(data_folder()).team.is_automatic() else ():
        _run(command, LONGEST)
    return 0


def _run(command: tuple[str, ...], longest: float | None = None) -> int:
    started = time.monotonic()
    try:
        code = subprocess.call(own_command(*command), stdin=subprocess.DEVNULL, timeout=longest)
    except subprocess.TimeoutExpired:
        code = 2
    print(f"preheat {' '.join(command)}: ended with {code} after {time.monotonic() - started:.1f} s", flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main())
