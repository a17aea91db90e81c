"""The lock that lets one sync run at a time. Knows nothing of the archive itself."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from preheat.errors import ArchiveBusy
from preheat.locking import hold_lock


@contextmanager
def hold_sync_lock(folder: str, wait: float, on_wait: Callable[[], None]) -> Iterator[None]:
    """Hold the sync lock of a folder; `on_wait` is called once if another process holds it. Raises ArchiveBusy after `wait` s."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    busy = ArchiveBusy(f"another sync has held `{folder}` for {wait:.0f} s; try again later")
    with hold_lock(os.path.join(folder, "sync.lock"), wait, busy, on_wait):
        yield
