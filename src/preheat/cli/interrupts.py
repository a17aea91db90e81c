"""Signals that stop a command: Ctrl-C, SIGTERM, and the end of its terminal. Light, because a plain sync loads it.

A command stops where it is: what it stores, it stores in transactions, and its workers end with it. Knows no command.
"""

import _thread
import os
import signal
import threading
import time
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any

STOPPED = "stopped; what was done so far is kept"
_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")
_END_SECONDS = 1.5
"""Seconds after which a command that was told to stop is ended."""


class Stopped(KeyboardInterrupt):
    """A signal stopped the command."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.code = exit_code_of(number)


def exit_code_of(number: int) -> int:
    """The exit code of a command that a signal stopped, as shells have it."""
    return 128 + number


def stop_code(error: KeyboardInterrupt) -> int:
    """The exit code of an interruption."""
    return error.code if isinstance(error, Stopped) else exit_code_of(signal.SIGINT)


class Interrupts:
    """Entered around a command. The first signal raises `Stopped` where the command is; the second, or one and a half seconds,
    end the process, after `say` was called. A signal that the starting program has had ignored (`nohup`) stays ignored."""

    def __init__(self, say: Callable[[str], object]) -> None:
        self._say = say
        self._process = os.getpid()
        self._before: dict[int, Any] = {}
        self._is_said = False
        self.number = 0
        """The signal that stopped the command; 0 if none did."""

    def __enter__(self) -> "Interrupts":
        if threading.current_thread() is threading.main_thread():
            for number in (getattr(signal, name) for name in _NAMES if hasattr(signal, name)):
                if signal.getsignal(number) != signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.number:
            return  # the handlers stay until the process has ended
        for number, before in self._before.items():
            signal.signal(number, before)

    def report(self) -> int:
        """Say once that the command was stopped; returns the exit code."""
        if not self._is_said:
            self._is_said = True
            self._say(STOPPED)
        return exit_code_of(self.number or signal.SIGINT)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if os.getpid() != self._process:
            return  # a forked process, which ends with its parent
        if self.number:
            self._end()
        self.number = number
        # Not `threading`, whose locks the interrupted code may hold.
        _thread.start_new_thread(self._end_later, ())
        raise Stopped(number)

    def _end_later(self) -> None:
        time.sleep(_END_SECONDS)
        self._end()

    def _end(self) -> None:
        try:
            self.report()
        finally:
            os._exit(exit_code_of(self.number))
