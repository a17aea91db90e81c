"""One sync at a time. The operating system frees the lock when its holder dies, however it dies."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from preheat.errors import ArchiveBusy

if sys.platform == "win32":
    import msvcrt

    def _try(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _try(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def sync_lock(folder: str, wait: float, on_wait: Callable[[], None]) -> Iterator[None]:
    """Hold the lock of the archive in a folder; `on_wait` is called once if somebody else holds it now."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    descriptor = os.open(os.path.join(folder, "sync.lock"), os.O_CREAT | os.O_RDWR, 0o600)
    try:
        until, told = time.monotonic() + wait, False
        while True:
            try:
                _try(descriptor)
                break
            except OSError:
                if time.monotonic() >= until:
                    raise ArchiveBusy(f"another sync has held `{folder}` for {wait:.0f} s; try again later") from None
                if not told:
                    on_wait()
                    told = True
                time.sleep(0.05)
        yield
    finally:
        os.close(descriptor)
