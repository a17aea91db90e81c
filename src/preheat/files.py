"""Files that are whole or not there: written beside their place and moved into it, for their owner only unless told.

Knows nothing of what is in them. Standard library only, and little of that: the quick sync writes with it.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import BinaryIO

OWNER_ONLY = 0o600
AS_USUAL = 0o666
"""What a program gives a file that a person asked for: the rest is the person's umask."""

_FLAGS = os.O_CREAT | os.O_WRONLY | os.O_TRUNC | getattr(os, "O_BINARY", 0)


def write_whole(
    path: str,
    data: bytes,
    *,
    mode: int = OWNER_ONLY,
    like: str = "",
    durable: bool = False,
    make_folders: bool = False,
) -> None:
    """Write a file anew, whole or not at all. Raises OSError, which names the file; then nothing was changed.

    `like`: a file whose rights it gets, if that is there. `durable`: on the disk before anything refers to it.
    `make_folders`: also the folders above it, for their owner only."""
    stream_whole(
        path,
        lambda stream: stream.write(data),
        mode=mode,
        like=like,
        durable=durable,
        make_folders=make_folders,
    )


def stream_whole(
    path: str,
    write: Callable[[BinaryIO], object],
    *,
    mode: int = OWNER_ONLY,
    like: str = "",
    durable: bool = False,
    make_folders: bool = False,
) -> None:
    """`write_whole` for what is made piece by piece: `write` puts it into the stream."""
    folder = os.path.dirname(path) or os.curdir
    new = f"{path}.new-{os.getpid()}-{os.urandom(4).hex()}"
    try:
        if make_folders:
            private_folder(folder)
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
        _settle(folder)


def private_folder(folder: str) -> None:
    """Make a folder, and those above it, for their owner only; those that are there stay as they are. Raises OSError."""
    if not os.path.isdir(folder):
        private_folder(os.path.dirname(folder) or os.curdir)
        try:
            os.mkdir(folder, 0o700)
        except FileExistsError:
            if not os.path.isdir(folder):
                raise


def _settle(folder: str) -> None:
    """Have a rename on the disk, where the system can do that."""
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
