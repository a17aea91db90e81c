"""Unpacks tar archives on every supported Python: the filters of `tarfile` are missing before 3.11.4."""

import tarfile
from collections.abc import Callable
from typing import Any

Change = Callable[[tarfile.TarInfo], None]


def unpack(path: str, folder: Any, change: Change = lambda entry: None) -> None:
    """Extract all entries, each after `change` was called with it; the archives are our own, so nothing in them is hostile."""
    with tarfile.open(path) as packed:
        entries = packed.getmembers()
        for entry in entries:
            change(entry)
        safe: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        packed.extractall(folder, entries, **safe)
