"""A time limit on a computation in the main thread, which is interrupted wherever it is. Knows nothing of what is computed."""

import signal
import threading
import time
from types import FrameType, TracebackType

_LEAST = 0.001
"""Seconds to wait at least before looking at the time again."""


class Overrun(BaseException):
    """The computation took too long. A BaseException, so that `except Exception` does not swallow it."""


class TimeLimit:
    """`with limit(0.05): …` raises Overrun when the time is up: of the clock while an agent waits, else of computing. One at a
    time; no effect outside of the main thread."""

    def __init__(self) -> None:
        self._is_armed = False
        self._is_usable = threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer")
        self._seconds = self._began = 0.0
        self._is_of_computing = False
        if self._is_usable:
            signal.signal(signal.SIGALRM, self._interrupt)

    def __call__(self, seconds: float, of_computing: bool = False) -> "TimeLimit":
        self._seconds = seconds
        self._is_of_computing = of_computing
        return self

    def __enter__(self) -> None:
        if self._is_usable:
            self._is_armed = True
            self._began = time.thread_time()
            signal.setitimer(signal.ITIMER_REAL, self._seconds)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # First, so that a signal from here on is ignored.
        self._is_armed = False
        if self._is_usable:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if not self._is_armed:
            return
        if self._is_of_computing and (left := self._seconds - (time.thread_time() - self._began)) > 0:
            signal.setitimer(signal.ITIMER_REAL, max(left, _LEAST))
            return
        self._is_armed = False
        raise Overrun
