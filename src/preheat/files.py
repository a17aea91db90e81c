"""Every read and write of a file: read only if it is a plain file and no larger than expected, written under another name and
then moved into place, readable by its owner only unless a project is to have it.

The only module that makes files and folders, and that opens paths of others; tests hold that. Knows nothing of the contents.
Standard library only, and little of that: the quick path of a sync uses it.
"""

from __future__ import annotations

import errno
import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import BinaryIO

OWNER_ONLY = 0o600
UMASK_DEFAULT = 0o666
"""The mode of a file for a project, where others work too; the person's umask restricts it."""

_NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
_FLAGS = os.O_CREAT | os.O_EXCL | os.O_WRONLY | _NO_LINK


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
                os.chmod(new, os.stat(like).st_mode & 0o777)
            os.replace(new, path)
        finally:
            if os.path.exists(new):
                os.unlink(new)
    except OSError as error:
        if error.errno is not None and error.filename in (new, None):
            raise OSError(error.errno, error.strerror, path) from error
        raise
    if durable:
        flush_folder(folder)


def follow_links(path: str, within: str) -> str:
    """Where a path leads by its links. Raises PermissionError if that is outside the folder `within`: a repository of others can
    have a link to any file of the user, in the place of a file that we write. An empty `within` allows everything."""
    found = os.path.realpath(path)
    if within and not found.startswith(os.path.join(os.path.realpath(within), "")):
        raise PermissionError(1, f"leads to `{found}`, which is not in the project; nothing was written", path)
    return found


def open_private(path: str, flags: int) -> int:
    """A descriptor of a file for its owner only, which is made if there is none, and closed to others if it was open to them. A
    link is not followed. Raises OSError."""
    descriptor = os.open(path, flags | os.O_CREAT | _NO_LINK, OWNER_ONLY)
    try:
        if hasattr(os, "fchmod") and os.fstat(descriptor).st_mode & 0o077:
            os.fchmod(descriptor, OWNER_ONLY)
    except OSError:
        pass  # a file system without modes; `preheat admin doctor` reports what others can read
    return descriptor


def make_project_folder(folder: str) -> None:
    """Make a folder in a project, and missing ones above it; the person's umask says who else may use them. Raises OSError."""
    os.makedirs(folder, exist_ok=True)


def make_private_folder(folder: str) -> None:
    """Make a folder and missing ones above it, for their owner only; existing folders stay as they are. Raises OSError."""
    if not os.path.isdir(folder):
        make_private_folder(os.path.dirname(folder) or os.curdir)
        try:
            os.mkdir(folder, 0o700)
        except FileExistsError:
            if not os.path.isdir(folder):
                raise


def flush_folder(folder: str) -> None:
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


# Reading.
MOST_BYTES = 64 * 1024 * 1024
"""The largest file that is read whole where no other limit is given: settings, notes of ours and the like are far smaller."""

_READ_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


class NotAFile(OSError):  # noqa: N818 - reads as a sentence where it is raised
    """A path names a pipe, a socket or a device, which could keep a reader waiting for ever."""


class FileTooLarge(OSError):  # noqa: N818
    """A file is larger than what is expected there."""


class PlainFile:
    """A plain file, open for reading. It ends where it ended when it was opened, however much is added meanwhile; files that
    the system makes up when they are read, without a size, are empty."""

    __slots__ = ("_at", "_descriptor", "size")

    def __init__(self, descriptor: int, size: int) -> None:
        self._descriptor = descriptor
        self._at = 0
        self.size = size

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes, fewer than wanted only at the end; without a size all that are left."""
        left = max(0, self.size - self._at)
        wanted = left if size < 0 else min(size, left)
        data = os.read(self._descriptor, wanted) if wanted else b""
        if 0 < len(data) < wanted:  # the system reads at most 2 GB at once
            pieces = [data]
            length = len(data)
            while length < wanted and (piece := os.read(self._descriptor, wanted - length)):
                pieces.append(piece)
                length += len(piece)
            data = b"".join(pieces)
        self._at += len(data)
        return data

    def seek(self, offset: int) -> None:
        """Go on at an offset from the beginning."""
        self._at = os.lseek(self._descriptor, offset, os.SEEK_SET)

    def fileno(self) -> int:
        return self._descriptor

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> PlainFile:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def open_file(path: str) -> PlainFile:
    """Open a plain file, or a link to one, for reading. Never waits: raises OSError for anything else.

    The path is looked at before it is opened, because opening alone wakes who waits at a pipe and starts some devices; and the
    open file again, because another may have taken its place meanwhile."""
    try:
        require_plain_file(os.stat(path), path)
        descriptor = os.open(path, _READ_FLAGS)
    except ValueError as error:  # a NUL in the path
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path) from error
    try:
        status = os.fstat(descriptor)
        require_plain_file(status, path)
    except OSError:
        os.close(descriptor)
        raise
    return PlainFile(descriptor, status.st_size)


def read_file(path: str, most: int = MOST_BYTES, advice: str = "") -> bytes:
    """The bytes of a plain file of at most `most` bytes; `advice` ends the message about a larger one. Raises OSError."""
    with open_file(path) as file:
        if file.size > most:
            limit = f"{most >> 20} MB" if most >= 1 << 20 else f"{most:,} bytes"
            raise FileTooLarge(errno.EFBIG, f"it is larger than {limit}{advice}", path)
        return file.read()


def read_text(path: str, most: int = MOST_BYTES, errors: str = "strict") -> str:
    """The text of a plain file. Raises OSError, and UnicodeDecodeError for what is no UTF-8."""
    return read_file(path, most).decode("utf-8", errors)


_KINDS = (
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def require_plain_file(status: os.stat_result, path: str) -> None:
    if stat.S_ISREG(status.st_mode):
        return
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    kind = next((name for is_kind, name in _KINDS if is_kind(status.st_mode)), "something else")
    raise NotAFile(errno.EINVAL, f"it is {kind}, not a file", path)
