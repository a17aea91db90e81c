"""Files that are whole or not there: written beside and renamed, one writer at a time, for their owner only.

Knows nothing of what is in them.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from preheat.errors import UserError
from preheat.locking import held

PATIENCE = 30.0
"""How long a writer waits for another one; writing takes milliseconds."""


@contextmanager
def locked(folder: str, wait: float = PATIENCE) -> Iterator[None]:
    """Hold the lock of a folder."""
    private_folder(folder)
    busy = UserError(f"another program has held `{folder}` for {wait:.0f} s; try again later")
    with held(os.path.join(folder, "lock"), wait, busy):
        yield


def write_whole(path: str, data: bytes) -> None:
    """Write a file anew, whole or not at all, and have it on the disk before anything refers to it."""
    folder = os.path.dirname(path) or os.curdir
    new = f"{path}.new-{os.getpid()}"
    try:
        private_folder(folder)
        try:
            with open(os.open(new, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "wb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(new, path)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(new)
        _settle(folder)
    except OSError as error:
        why = error.strerror or str(error)
        raise UserError(f"`{path}` could not be written ({why}); nothing was changed") from error


def append_line(path: str, data: bytes) -> None:
    """One more line; what a killed writer left half-written stays a line of its own."""
    try:
        private_folder(os.path.dirname(path))
        with open(os.open(path, os.O_CREAT | os.O_RDWR | os.O_APPEND, 0o600), "rb+", buffering=0) as stream:
            size = stream.seek(0, os.SEEK_END)
            torn = False
            if size:
                stream.seek(size - 1)
                torn = stream.read(1) != b"\n"
            stream.write((b"\n" if torn else b"") + data + b"\n")
    except OSError as error:
        raise UserError(f"`{path}` could not be written ({error.strerror or error})") from error


def private_folder(folder: str) -> None:
    """Make a folder, and those above it, for their owner only; those that are there stay as they are."""
    if not os.path.isdir(folder):
        private_folder(os.path.dirname(folder) or os.curdir)
        with suppress(FileExistsError):
            os.mkdir(folder, 0o700)


def _settle(folder: str) -> None:
    """Have a rename on the disk, where the system can do that."""
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
