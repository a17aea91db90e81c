"""The file of lessons in a repository, `.preheat/lessons.toml`: where it is, and its bytes if they may be looked at.

A cloned repository may hold anything in that place: a link out of the tree, a pipe, a file without end. Only a plain file of the
tree itself is read, and only up to `MOST_BYTES`. Light: the start of a session asks whether the file is still the trusted one,
and reads it again only if it changed. Knows no lesson.
"""

import os
import stat
import time
from functools import lru_cache
from hashlib import sha256
from typing import NamedTuple

from preheat.checkouts import find_checkout
from preheat.files import read_file

FOLDER, NAME = ".preheat", "lessons.toml"
FILE = f"{FOLDER}/{NAME}"
MOST_BYTES = 256 * 1024
_UNSETTLED = 2_000_000_000
"""Nanoseconds within which a file may change again and keep its times: it is read each time until then."""


class Clone(NamedTuple):
    """A clone of a repository, with one of its working trees."""

    identity: str
    """The folder with the repository's objects: all working trees of a clone share it, another clone has another."""
    root: str
    """The working tree."""


class FoundFile(NamedTuple):
    """What is in the place of the file."""

    data: bytes = b""
    digest: str = ""
    """SHA-256 of the bytes; empty if there is no file that may be read."""
    fault: str = ""
    """Why it may not be read; empty if there is none, or it may."""


NO_FILE = FoundFile()


def find_clone(where: str) -> Clone | None:
    """The clone around a folder; None where there is no repository."""
    checkout = find_checkout(os.path.abspath(os.path.expanduser(where))) if where else None
    if checkout is None:
        return None
    return Clone(os.path.realpath(checkout.common or checkout.root), os.path.realpath(checkout.root))


def shared_path(root: str) -> str:
    """Where the file of a working tree is."""
    return os.path.join(root, FOLDER, NAME)


def find_file(root: str) -> FoundFile:
    """The file of a working tree as it is now; it is read again only if it changed."""
    path = shared_path(root)
    try:
        if not stat.S_ISDIR(os.lstat(os.path.dirname(path)).st_mode):
            return FoundFile(fault=f"`{FOLDER}` is not a folder of the repository")
        status = os.lstat(path)
    except FileNotFoundError:
        return NO_FILE
    except OSError as error:
        return FoundFile(fault=f"it cannot be read: {error.strerror}")
    if stat.S_ISLNK(status.st_mode):
        return FoundFile(fault="it is a link, not a file of the repository")
    if status.st_size > MOST_BYTES:
        return FoundFile(fault=f"it is larger than {MOST_BYTES >> 10} KB")
    if time.time_ns() - status.st_ctime_ns < _UNSETTLED:
        return _read(path)
    return _read_once(path, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


@lru_cache(maxsize=64)
def _read_once(path: str, *stamp: int) -> FoundFile:
    return _read(path)


def _read(path: str) -> FoundFile:
    try:
        data = read_file(path, MOST_BYTES)
    except OSError as error:
        return FoundFile(fault=error.strerror or "it cannot be read")
    return FoundFile(data, sha256(data).hexdigest())
