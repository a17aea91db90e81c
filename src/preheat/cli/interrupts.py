"""Ctrl-C during a sync: stops it between two sources, never inside the process pool, which would hang or lose it. And being
asked to end while programs run for us: as Ctrl-C, so that they end with us.

Knows nothing of what is being done.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any

from preheat.cli.guard import INTERRUPTED


class Interrupts:
    """Entered around work: the first Ctrl-C stops it at the next `check` (at once unless `postponed`), the second ends the
    process."""

    def __init__(self) -> None:
        self.postponed = False
        self._process = os.getpid()
        self._count = 0
        self._before: Any = None

    def __enter__(self) -> "Interrupts":
        self._before = signal.signal(signal.SIGINT, self._interrupted)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        signal.signal(signal.SIGINT, self._before)

    def _interrupted(self, number: int, frame: FrameType | None) -> None:
        """Worker processes inherit this handler and get the terminal's signal, too; they ignore the first one."""
        self._count += 1
        if self._count > 1:
            os._exit(INTERRUPTED)
        if not self.postponed and os.getpid() == self._process:
            raise KeyboardInterrupt

    def check(self) -> None:
        """Stop here if Ctrl-C was pressed."""
        if self._count:
            raise KeyboardInterrupt


@contextmanager
def interrupt_on_terminate() -> Iterator[None]:
    """Entered around work: SIGTERM acts like Ctrl-C. Programs that we started have a process group of their own, and would go on
    without us."""
    before = signal.signal(signal.SIGTERM, _raise_interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _raise_interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
