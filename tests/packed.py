"""Unpacks the recorded folders of earlier versions, on every supported Python: 3.11 has filters for it only from 3.11.4 on."""

import tarfile
from collections.abc import Callable
from typing import Any

Change = Callable[[tarfile.TarInfo], None]


def unpack(path: str, folder: Any, change: Change = lambda entry: None) -> None:
    """All entries of an archive, each changed first; the archive is our own, so nothing in it is hostile."""
    with tarfile.open(path) as packed:
        entries = packed.getmembers()
        for entry in entries:
            change(entry)
        safe: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        packed.extractall(folder, entries, **safe)
