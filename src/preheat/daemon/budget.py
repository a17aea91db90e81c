"""A time limit on a computation in the main thread, which is interrupted wherever it is.

For pure computations only: an interrupted one must have changed nothing. Interrupts Python code and patterns of the standard
library; other native code ends first. Knows nothing of what is computed.
"""

import signal
import threading
from types import FrameType, TracebackType


class Overrun(BaseException):
    """The computation took too long. A BaseException, so that `except Exception` does not swallow it."""


class TimeLimit:
    """`with limit(0.05): …` raises Overrun when the time is up. One at a time; no effect outside of the main thread."""

    def __init__(self) -> None:
        self._is_armed = False
        self._is_usable = threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer")
        self._seconds = 0.0
        if self._is_usable:
            signal.signal(signal.SIGALRM, self._interrupt)

    def __call__(self, seconds: float) -> "TimeLimit":
        self._seconds = seconds
        return self

    def __enter__(self) -> None:
        if self._is_usable:
            self._is_armed = True
            signal.setitimer(signal.ITIMER_REAL, self._seconds)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # First, so that a signal from here on is ignored.
        self._is_armed = False
        if self._is_usable:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if self._is_armed:
            self._is_armed = False
            raise Overrun
