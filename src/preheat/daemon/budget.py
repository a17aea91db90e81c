"""A limit on how long a computation may take, in the process's first thread: it is cut wherever it is.

Knows nothing of what is computed. Only for what is pure: whatever is cut must have changed nothing. Cuts Python code and
patterns of the standard library that ran away; a call into other native code ends first.
"""

import signal
import threading
from types import FrameType, TracebackType


class Overrun(BaseException):
    """It took too long. No ordinary exception: whoever catches those must not swallow this one."""


class Budget:
    """`with budget(0.05): …` raises Overrun when the time is up. One at a time; without effect in other threads."""

    def __init__(self) -> None:
        self._armed = False
        self._able = threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer")
        self._seconds = 0.0
        if self._able:
            signal.signal(signal.SIGALRM, self._ring)

    def __call__(self, seconds: float) -> "Budget":
        self._seconds = seconds
        return self

    def __enter__(self) -> None:
        if self._able:
            self._armed = True
            signal.setitimer(signal.ITIMER_REAL, self._seconds)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # First: a signal that comes from here on finds nothing to cut.
        self._armed = False
        if self._able:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def _ring(self, number: int, frame: FrameType | None) -> None:
        if self._armed:
            self._armed = False
            raise Overrun
