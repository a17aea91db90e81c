"""Work for quiet times: reading what is new and learning from it, in another process that lets everything else go first.

Knows nothing of sessions. In the daemon's own process it would make hooks wait (measured: 0.4 ms become 12).
"""

import os
import signal
import subprocess
import sys
import time

QUIET = 60.0
"""Seconds without an event before it begins."""
AGAIN = 600.0
"""Seconds from one beginning to the next, at least."""
SOON = 5.0
"""Seconds without an event after a session's end: what it taught is wanted by the next one."""
SOON_AGAIN = 60.0
"""Seconds from one beginning to the next then."""
NICE = 10
COMMANDS = (("sync", "--quiet"), ("learn", "--quiet"))


class Idle:
    """Begins the work when it is time, and knows whether it runs. Times are those of a clock that is never set."""

    def __init__(self, log: int, quiet: float = QUIET, again: float = AGAIN) -> None:
        self._log = log
        self._quiet = quiet
        self._again = again
        self._begun = -again
        self._events_then = 0
        self._ended = False
        self._process: subprocess.Popen[bytes] | None = None

    def ended(self) -> None:
        """A session is over: there is something whole to learn from."""
        self._ended = True

    def look(self, now: float, last_event: float, events: int) -> bool:
        """Begin if it is time: nothing happens now, something has since the last time. Whether a run is just over."""
        if self._process is not None:
            if self._process.poll() is None:
                return False
            self._process = None
            return True
        quiet = min(self._quiet, SOON) if self._ended else self._quiet
        again = min(self._again, SOON_AGAIN) if self._ended else self._again
        if events != self._events_then and now - last_event >= quiet and now - self._begun >= again:
            self._begun = now
            self._ended = False
            self._events_then = events
            self._process = subprocess.Popen(
                [sys.executable, "-m", "preheat.daemon.idle"],
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=self._log,
                start_new_session=True,
            )
        return False

    @property
    def busy(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def stop(self) -> None:
        """End it; what it has done is kept, and the next run goes on there."""
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGTERM)
            try:
                self._process.wait(2.0)
            except subprocess.TimeoutExpired:
                os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait()


def main() -> int:
    """The other process."""
    if hasattr(os, "nice"):
        os.nice(NICE)
    for command in COMMANDS:
        begun = time.monotonic()
        code = subprocess.call([sys.executable, "-m", "preheat", *command], stdin=subprocess.DEVNULL)
        print(f"preheat {' '.join(command)}: ended with {code} after {time.monotonic() - begun:.1f} s", flush=True)
        if code > 1:
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main())
