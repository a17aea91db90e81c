"""How much of one file, line or folder is read: limits that keep memory bounded whatever a file holds, settable by the person.

Knows nothing of what is read. What is over a limit is reported by its name, and costs nothing else.
"""

import os
from functools import lru_cache
from typing import Annotated

import msgspec

from preheat.errors import FolderRefused, UserError
from preheat.settings import data_folder
from preheat.settings_file import SETTINGS, load_section

HEADING = "limits"
_MB = 1 << 20
_Size = Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
_Count = Annotated[int, msgspec.Meta(ge=1, le=1_000_000_000)]


class Limits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The limits of reading."""

    source_mb: _Size = 512
    """MB of one session file, unpacked, or of one session in a database; what comes after them is not read."""
    document_mb: _Size = 256
    """MB of a file that has to be read whole, such as one JSON document; a larger one is not read."""
    line_mb: _Size = 32
    """MB of one line; a longer one is kept but not read."""
    records: _Count = 1_000_000
    """Lines or rows of one session file; what comes after them is not read."""
    values: _Count = 10_000_000
    """JSON values in one document, by its commas and brackets; one with more is not read."""
    nesting: Annotated[int, msgspec.Meta(ge=10, le=400)] = 200
    """Levels of objects and lists in the input of a call or in a record; what is deeper is left out."""
    files: _Count = 500_000
    """Files below one folder of an agent, or below one that you name; the others are not read."""

    @property
    def source_bytes(self) -> int:
        return self.source_mb * _MB

    @property
    def document_bytes(self) -> int:
        return self.document_mb * _MB

    @property
    def line_bytes(self) -> int:
        return self.line_mb * _MB


DEFAULTS = Limits()


def load_limits(folder: str) -> Limits:
    """The limits in Preheat's folder, with defaults for the missing ones. Raises UserError."""
    return load_section(folder, HEADING, DEFAULTS)


def current_limits() -> Limits:
    """The limits of the person who runs this; the defaults where the settings cannot be read, which `admin doctor` reports."""
    try:
        folder = data_folder()
        status = os.stat(os.path.join(folder, SETTINGS))
    except (OSError, ValueError, FolderRefused):
        return DEFAULTS
    return _load(folder, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=4)
def _load(folder: str, changed: int, size: int) -> Limits:
    try:
        return load_limits(folder)
    except UserError:
        return DEFAULTS


def describe_limit(name: str) -> str:
    """Which limit it was and where it is set, for the end of a message."""
    return f"`{name}` below `[{HEADING}]` in `{SETTINGS}` sets this limit"
