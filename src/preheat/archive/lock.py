"""One sync at a time."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from preheat.errors import ArchiveBusy
from preheat.locking import held


@contextmanager
def sync_lock(folder: str, wait: float, on_wait: Callable[[], None]) -> Iterator[None]:
    """Hold the lock of the archive in a folder; `on_wait` is called once if somebody else holds it now."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    busy = ArchiveBusy(f"another sync has held `{folder}` for {wait:.0f} s; try again later")
    with held(os.path.join(folder, "sync.lock"), wait, busy, on_wait):
        yield
