"""The files that an agent's program wrote while it worked on a task. Reads none of them."""

import os
from collections.abc import Mapping


def changed_files(before: Mapping[str, str], after: Mapping[str, str], record: str = "") -> list[str]:
    """The files that are new or changed; and `record`, the file that a program was told to write, if it exists."""
    found = [path for path, stamp in after.items() if before.get(path) != stamp]
    return sorted([*found, *([record] if record and os.path.exists(record) else [])])
