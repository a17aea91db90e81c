"""Which project is meant: by its name as the archive knows it, or by a folder of this machine.

Knows nothing of sessions or lessons. Light: a session's start names its project here.
"""

import os
import sqlite3
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from preheat.app.later import Later
from preheat.errors import NotFound
from preheat.lessons.projects import last_part, names, root_of

if TYPE_CHECKING:
    from preheat.archive import lessons as _lessons
    from preheat.archive.lessons import Place
else:
    _lessons = Later("preheat.archive.lessons")  # 5 ms that a session's start with a template does not need


def project_named(connection: sqlite3.Connection, wanted: str) -> str:
    """The project by its name, or by a folder in it (`.` is here). Raises NotFound if no session ran there."""
    name = find_name(_lessons.places(connection), wanted)
    if name is None:
        raise NotFound(
            f"no project `{wanted}` is known; `preheat learn` takes in new ones, `preheat sessions list` shows the folders"
        )
    return name


def find_name(known: "Sequence[Place]", wanted: str) -> str | None:
    """The name of the project that is meant by a name or a folder; None where no session ran there."""
    found = [place for place in known if place.name]
    for place in found:
        if wanted in (place.name, place.folder, place.root):
            return place.name
    root = project_root(os.path.abspath(os.path.expanduser(wanted)))
    for place in found:
        if root and root in (place.root, place.folder):
            return place.name
    # A checkout that no session ran in yet: a team's sessions of the same name are of the same project.
    alike = {place.name for place in found if root and place.name.lower() == last_part(root).lower()}
    return alike.pop() if len(alike) == 1 else None


def project_folder(where: str) -> str:
    """The folder that a project goes by: its repository's, of whatever folder in it; else the folder itself."""
    folder = os.path.realpath(os.path.expanduser(where))
    return project_root(folder) or folder


def project_root(folder: str) -> str:
    """The root of the project around a folder; empty for a home folder, which is no project."""
    return root_of(folder, repository_of)


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


def projects(folders: Mapping[str, int]) -> "dict[str, Place]":
    """By the folder in which sessions ran (with how many did): the project it belongs to."""
    roots = {folder: project_root(folder) for folder in folders}
    sessions: dict[str, int] = {}
    for folder, count in folders.items():
        sessions[roots[folder]] = sessions.get(roots[folder], 0) + count
    named = names(sessions)
    return {folder: _lessons.Place(folder, root, named[root]) for folder, root in roots.items()}
