"""One line for a person whose clone has a file of lessons that is not trusted. Says nothing of what is in it. Light."""

import os

from preheat.settings import state_path
from preheat.shared_file import FILE, find_clone, find_file
from preheat.state.connect import reading
from preheat.state.received_lessons import trusted_files


def describe_untrusted(folder: str, where: str) -> str:
    """The line for the clone around a folder; empty if it has no such file, or a trusted one."""
    clone = find_clone(where)
    if clone is None:
        return ""
    file = find_file(clone.root)
    if file.fault:
        return f"`{FILE}` here may not be read ({file.fault}), so nothing of it is used."
    if not file.digest:
        return ""
    if os.path.exists(state_path(folder)):
        with reading(folder) as state:
            if any(each.digest == file.digest for each in trusted_files(state, clone.identity)):
                return ""
    return f"`{FILE}` here is not trusted, so nothing of it is used: `preheat trust` shows it and asks."
