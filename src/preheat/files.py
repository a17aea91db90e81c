"""Atomic file writes: a file is written under another name and moved into place, readable by its owner only by default.

Knows nothing of the contents. Standard library only, and little of that: the quick path of a sync writes with it.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import BinaryIO

OWNER_ONLY = 0o600
UMASK_DEFAULT = 0o666
"""The mode of a file that a person asked for; their umask restricts it."""

_FLAGS = os.O_CREAT | os.O_WRONLY | os.O_TRUNC | getattr(os, "O_BINARY", 0)


def write_atomically(
    path: str,
    data: bytes,
    *,
    mode: int = OWNER_ONLY,
    like: str = "",
    durable: bool = False,
    make_folders: bool = False,
) -> None:
    """Write a file, whole or not at all. Raises OSError, which names the file, and then nothing was changed.

    `like`: a file whose permissions are copied, if it exists. `durable`: flushed to the disk before it returns.
    `make_folders`: also make the folders above it, for their owner only."""
    stream_atomically(
        path,
        lambda stream: stream.write(data),
        mode=mode,
        like=like,
        durable=durable,
        make_folders=make_folders,
    )


def stream_atomically(
    path: str,
    write: Callable[[BinaryIO], object],
    *,
    mode: int = OWNER_ONLY,
    like: str = "",
    durable: bool = False,
    make_folders: bool = False,
) -> None:
    """As `write_atomically`, for contents that `write` puts into a stream piece by piece."""
    folder = os.path.dirname(path) or os.curdir
    new = f"{path}.new-{os.getpid()}-{os.urandom(4).hex()}"
    try:
        if make_folders:
            make_private_folder(folder)
        try:
            with open(os.open(new, _FLAGS, mode), "wb") as stream:
                write(stream)
                if durable:
                    stream.flush()
                    os.fsync(stream.fileno())
            if like and os.path.exists(like):
                os.chmod(new, os.stat(like).st_mode & 0o7777)
            os.replace(new, path)
        finally:
            if os.path.exists(new):
                os.unlink(new)
    except OSError as error:
        if error.errno is not None and error.filename in (new, None):
            raise OSError(error.errno, error.strerror, path) from error
        raise
    if durable:
        _flush_folder(folder)


def make_private_folder(folder: str) -> None:
    """Make a folder and missing ones above it, for their owner only; existing folders stay as they are. Raises OSError."""
    if not os.path.isdir(folder):
        make_private_folder(os.path.dirname(folder) or os.curdir)
        try:
            os.mkdir(folder, 0o700)
        except FileExistsError:
            if not os.path.isdir(folder):
                raise


def _flush_folder(folder: str) -> None:
    """Flush a rename to the disk, where the system can do that."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    except OSError:
        return
    finally:
        os.close(descriptor)
