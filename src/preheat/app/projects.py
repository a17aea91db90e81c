"""Which project a folder belongs to, as this machine knows it. The rules are `lessons.projects`."""

import os
from collections.abc import Mapping

from preheat.archive.lessons import Place
from preheat.lessons.projects import names, root_of


def projects(folders: Mapping[str, int]) -> dict[str, Place]:
    """By the folder in which sessions ran (with how many did): the project it belongs to."""
    roots = {folder: root_of(folder, repository_of) for folder in folders}
    sessions: dict[str, int] = {}
    for folder, count in folders.items():
        sessions[roots[folder]] = sessions.get(roots[folder], 0) + count
    called = names(sessions)
    return {folder: Place(folder, root, called[root]) for folder, root in roots.items()}


def repository_of(folder: str) -> str:
    """The root of the repository that a folder of this machine belongs to; empty where there is none."""
    while folder and os.path.isabs(folder):
        if os.path.exists(os.path.join(folder, ".git")):
            return folder
        above = os.path.dirname(folder)
        if above == folder:
            break
        folder = above
    return ""
