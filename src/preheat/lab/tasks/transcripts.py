"""The files that an agent's program wrote while it worked on a task. Reads none of them."""

import os
from collections.abc import Mapping


def written(before: Mapping[str, str], after: Mapping[str, str], record: str = "") -> list[str]:
    """Those that are new or have another stamp; and `record`, where a program without a place of its own was told to write."""
    found = [path for path, stamp in after.items() if before.get(path) != stamp]
    return sorted([*found, *([record] if record and os.path.exists(record) else [])])
