"""Where an agent keeps its sessions, and which of its files have changed.

Standard library only and light, because every sync loads it. Knows nothing of what is inside the files.
"""

from __future__ import annotations

import os
from stat import S_ISREG

TYPE_CHECKING = False  # importing `typing` would cost as much as looking at all files of a busy machine
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Protocol

    class PathNames(Protocol):
        """The paths of a store, to look up which there are."""

        def __contains__(self, path: object) -> bool: ...

        def below(self, folder: str) -> Iterator[str]:
            """The paths below a folder, in order."""


MANY_FILES = 100_000
"""Below one root; with more of them, the settable limit is looked up."""


class SourceFile:
    """A file or database that may hold sessions; a new stamp means that it has changed."""

    __slots__ = ("path", "size", "stamp")

    def __init__(self, path: str, size: int, stamp: str) -> None:
        self.path = path
        self.size = size
        self.stamp = stamp


class Places:
    """Where one agent keeps its sessions."""

    def __init__(
        self,
        agent: str,
        title: str,
        reader_version: int,
        roots: Callable[[Mapping[str, str]], list[str]],
        discover: Callable[[str], Iterator[SourceFile]],
        named: Callable[[str], SourceFile | None] | None = None,
        companions: Callable[[str, PathNames], Iterable[str]] | None = None,
    ) -> None:
        self.agent = agent
        self.title = title
        """The agent's name as people write it."""
        self.reader_version = reader_version
        """Raised whenever the reader reads more than before: existing files are then read again."""
        self.roots = roots
        """The folders to look in, by the environment; empty for formats that are only imported."""
        self.discover = discover
        """The session files below one root."""
        self.locate = named or source_at
        """Finds one file that the person named; formats that keep a session in several files include all of them in the stamp."""
        self.companions = companions
        """By a path with `/` and all paths of a store: those that belong to the same session. None: a session is one file."""


def stamp_of(status: os.stat_result) -> str:
    """A stamp that changes when the file is written, replaced or cut."""
    return f"{status.st_size}:{status.st_mtime_ns}:{status.st_ino}"


def storable_path(path: str) -> str:
    """The path as valid text: on some systems a file name may be any bytes, which no archive, JSON or terminal takes."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return path


def file_status(path: str) -> os.stat_result | None:
    """The status of a plain file, or of one that a link leads to; None if there is none. Pipes, sockets and devices are none."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status if S_ISREG(status.st_mode) else None


def source_at(path: str) -> SourceFile | None:
    """One file, with the write-ahead log beside it if it is a database: the latest writes are in the log."""
    status = file_status(path)
    if status is None:
        return None
    try:
        log = os.stat(f"{path}-wal")
    except OSError:
        return SourceFile(path, status.st_size, stamp_of(status))
    if not log.st_size:  # SQLite creates an empty log for every reader, Preheat included
        return SourceFile(path, status.st_size, stamp_of(status))
    return SourceFile(path, status.st_size + log.st_size, f"{stamp_of(status)}+{stamp_of(log)}")


def files_below(root: str, suffixes: tuple[str, ...], depth: int) -> Iterator[SourceFile]:
    """Plain files with one of the suffixes, at most `depth` folders down. Folders that cannot be opened are skipped (`preheat
    doctor` lists them)."""
    folders = [(root, 0)]
    while folders:
        folder, level = folders.pop()
        try:
            entries = os.scandir(folder)
        except OSError:
            continue
        with entries:
            for entry in entries:
                try:
                    if entry.is_dir(follow_symlinks=False):
                        if level < depth:
                            folders.append((entry.path, level + 1))
                    elif entry.name.endswith(suffixes):
                        status = entry.stat()
                        if S_ISREG(status.st_mode):
                            yield SourceFile(entry.path, status.st_size, stamp_of(status))
                except OSError:
                    continue


def imported_places(agent: str, title: str, reader_version: int) -> Places:
    """The places of a format that is only imported: no folder, and so no file to discover."""
    return Places(agent, title, reader_version, lambda environment: [], lambda root: iter(()))
