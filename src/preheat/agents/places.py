"""Where an agent keeps its sessions, and what has changed there. Standard library only and light: every sync runs this.

Knows nothing of what is inside the files.
"""

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple


class Found(NamedTuple):
    """A file (or database) that may hold sessions; it has changed when its stamp has."""

    path: str
    size: int
    stamp: str


class Places(NamedTuple):
    """One agent's whereabouts."""

    agent: str
    title: str
    """The agent's name as people write it."""
    reader_version: int
    """Raised whenever the reader gives something new: what is still there is then read again."""
    roots: Callable[[Mapping[str, str]], list[str]]
    """The folders to look in, by the environment; empty for formats that are only imported."""
    discover: Callable[[str], Iterator[Found]]
    """The session files below one root."""


def home(environment: Mapping[str, str]) -> str:
    """The person's home folder."""
    if sys.platform == "win32":
        return environment.get("USERPROFILE") or os.path.expanduser("~")
    return environment.get("HOME") or os.path.expanduser("~")


def stamp_of(status: os.stat_result) -> str:
    """Changes whenever a file was written, replaced or cut."""
    return f"{status.st_size}:{status.st_mtime_ns}:{status.st_ino}"


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


def nowhere(environment: Mapping[str, str]) -> list[str]:
    """For formats that are only imported: no place of their own."""
    return []


def nothing(root: str) -> Iterator[Found]:
    """For formats that are only imported: nothing to discover."""
    return iter(())
