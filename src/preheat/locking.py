"""File locks that the operating system frees when their holder dies. Knows nothing of what they guard."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _try_lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


_PAUSE = 0.02


@contextmanager
def hold_lock(path: str, wait: float, busy: Exception, on_wait: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Hold the lock in a file; `on_wait` is called once if another process holds it, `busy` is raised after `wait` seconds."""
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
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
        os.close(descriptor)
