"""Writes the files of the template store: one writer at a time, on disk before anything refers to them. Knows no template."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from preheat import files
from preheat.errors import UserError
from preheat.locking import hold_lock

PATIENCE = 30.0
"""Seconds that a writer waits for another one."""


@contextmanager
def hold_folder_lock(folder: str, wait: float = PATIENCE) -> Iterator[None]:
    """Hold the lock of a folder."""
    files.make_private_folder(folder)
    busy = UserError(f"another program has held `{folder}` for {wait:.0f} s; try again later")
    with hold_lock(os.path.join(folder, "lock"), wait, busy):
        yield


def write_durable(path: str, data: bytes) -> None:
    """Write a file whole or not at all, and wait until it is on disk. Raises UserError."""
    try:
        files.write_atomically(path, data, durable=True, make_folders=True)
    except OSError as error:
        why = error.strerror or str(error)
        raise UserError(f"`{path}` could not be written ({why}); nothing was changed") from error
