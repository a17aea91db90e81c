"""A list beside the archive of the files that it has, so that a sync with nothing new need not open the archive.

Only a short cut: the list is ignored unless the archive is exactly as it was when the list was written. Knows nothing of what
is in the files. Standard library only, and little of that.
"""

from __future__ import annotations

import os

from preheat.archive.stamp import archive_stamp
from preheat.files import read_text, write_atomically

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable


LIST_NAME = "seen"
LARGEST_LIST = 512 * 1024 * 1024
_FORMAT = "preheat-seen-1"


def load(folder: str, archive: str) -> dict[str, str] | None:
    """Stamp and reader version by path; None if the list is not of this archive."""
    try:
        text = read_text(os.path.join(folder, LIST_NAME), LARGEST_LIST, "surrogateescape")
        first, _, rest = text.partition("\n")
        if first != f"{_FORMAT} {archive_stamp(archive)}":
            return None
    except (OSError, UnicodeError):
        return None
    return dict(line.split("\t", 1) for line in rest.split("\n") if "\t" in line)


def save(folder: str, archive: str, entries: Iterable[tuple[str, str]]) -> None:
    """Write the list, whole or not at all. Errors are ignored: the list is only a short cut."""
    name = os.path.join(folder, LIST_NAME)
    lines = [f"{path}\t{value}" for path, value in entries if "\n" not in path and "\t" not in path]
    try:
        text = "\n".join([f"{_FORMAT} {archive_stamp(archive)}", *lines])
        write_atomically(name, text.encode("utf-8", "surrogateescape"))
    except (OSError, UnicodeError):
        return


def delete(folder: str) -> None:
    """Delete the list."""
    if os.path.exists(name := os.path.join(folder, LIST_NAME)):
        os.unlink(name)


def list_entry(stamp: str, reader_version: int) -> str:
    """The entry of a file that was read."""
    return f"{stamp} {reader_version}"


def forgotten_entry(path: str) -> tuple[str, str]:
    """The entry of a forgotten file: a digest in place of its path."""
    return forgotten_digest(path, "").hex(), "forgotten"


def forgotten_digest(*names: str) -> bytes:
    """The digest by which a forgotten source (path and part) or session (key) is recognised."""
    from hashlib import sha256  # noqa: PLC0415 - the quick path needs no hash most of the time

    return sha256("\0".join(names).encode("utf-8", "surrogateescape")).digest()
