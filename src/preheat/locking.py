"""Locks that the operating system frees when their holder dies, however it dies. Knows nothing of what they guard."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

if sys.platform == "win32":
    import msvcrt

    def _try(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _try(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


_PAUSE = 0.02


@contextmanager
def held(path: str, wait: float, busy: Exception, on_wait: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Hold the lock in a file; `on_wait` is called once if somebody else holds it now, `busy` raised if it lasts."""
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        until, told = time.monotonic() + wait, False
        while True:
            try:
                _try(descriptor)
                break
            except OSError:
                if time.monotonic() >= until:
                    raise busy from None
                if not told:
                    on_wait()
                    told = True
                time.sleep(_PAUSE)
        yield
    finally:
        os.close(descriptor)
