"""File locks that the operating system frees when their holder dies. Knows nothing of what they guard.

No other process holds a lock with it: a forked one closes what it inherited, and a program that is started inherits nothing.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from preheat.files import open_private

if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _try_lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


_PAUSE = 0.02
_held: set[int] = set()


def _close_inherited() -> None:
    """A lock belongs to an open file, which a forked process shares: it would stay locked until that one ends, too."""
    while _held:
        os.close(_held.pop())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_inherited)


@contextmanager
def hold_lock(path: str, wait: float, busy: Exception, on_wait: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Hold the lock in a file; `on_wait` is called once if another process holds it, `busy` is raised after `wait` seconds."""
    descriptor = open_private(path, os.O_RDWR)
    _held.add(descriptor)
    process = os.getpid()
    try:
        deadline, is_waiting = time.monotonic() + wait, False
        while True:
            try:
                _try_lock(descriptor)
                break
            except OSError:
                if time.monotonic() >= deadline:
                    raise busy from None
                if not is_waiting:
                    on_wait()
                    is_waiting = True
                time.sleep(_PAUSE)
        yield
    finally:
        if os.getpid() == process:
            _held.discard(descriptor)
            os.close(descriptor)
