"""Where an agent keeps its sessions, and what has changed there. Standard library only and light: every sync runs this.

Knows nothing of what is inside the files.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False  # importing `typing` would cost as much as looking at all files of a busy machine
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


class Found:
    """A file (or database) that may hold sessions; it has changed when its stamp has."""

    __slots__ = ("path", "size", "stamp")

    def __init__(self, path: str, size: int, stamp: str) -> None:
        self.path = path
        self.size = size
        self.stamp = stamp


class Places:
    """One agent's whereabouts."""

    def __init__(
        self,
        agent: str,
        title: str,
        reader_version: int,
        roots: Callable[[Mapping[str, str]], list[str]],
        discover: Callable[[str], Iterator[Found]],
        named: Callable[[str], Found | None] | None = None,
    ) -> None:
        self.agent = agent
        self.title = title
        """The agent's name as people write it."""
        self.reader_version = reader_version
        """Raised whenever the reader gives something new: what is still there is then read again."""
        self.roots = roots
        """The folders to look in, by the environment; empty for formats that are only imported."""
        self.discover = discover
        """The session files below one root."""
        self.named = named or found_at
        """One file that the person named; formats that keep a session in several files look at all of them."""


def stamp_of(status: os.stat_result) -> str:
    """Changes whenever a file was written, replaced or cut."""
    return f"{status.st_size}:{status.st_mtime_ns}:{status.st_ino}"


def storable(path: str) -> str:
    """A path as text: any bytes are a file name on some systems, but no archive, JSON or terminal takes them all."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return path


def found_at(path: str) -> Found | None:
    """One file, together with the write-ahead log beside it if it is a database: what was written last is in there."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    try:
        log = os.stat(f"{path}-wal")
    except OSError:
        return Found(path, status.st_size, stamp_of(status))
    if not log.st_size:  # an empty one says nothing: SQLite makes one for every reader, also for us
        return Found(path, status.st_size, stamp_of(status))
    return Found(path, status.st_size + log.st_size, f"{stamp_of(status)}+{stamp_of(log)}")


def files_below(root: str, suffixes: tuple[str, ...], depth: int) -> Iterator[Found]:
    """Files with one of the endings, at most `depth` folders down; folders that cannot be opened are passed over here
    (`preheat doctor` names them)."""
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
                        yield Found(entry.path, status.st_size, stamp_of(status))
                except OSError:
                    continue


def imported_places(agent: str, title: str, reader_version: int) -> Places:
    """The places of a format that is only imported: no folder, and so no file to discover."""
    return Places(agent, title, reader_version, lambda environment: [], lambda root: iter(()))
