"""Finds a project by its name in the archive, or by a folder of this machine.

Knows nothing of sessions or lessons. Light: the start of a session looks up its project here.
"""

import os
import sqlite3
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from preheat.app.lazy import LazyModule
from preheat.errors import NotFound
from preheat.lessons.projects import folder_name, name_projects, root_of

if TYPE_CHECKING:
    from preheat.archive import lessons as _lessons
    from preheat.archive.lessons import ProjectFolder
else:
    _lessons = LazyModule("preheat.archive.lessons")  # 5 ms that a session's start with a template does not need


def require_project(connection: sqlite3.Connection, wanted: str) -> str:
    """The name of a project, given its name or a folder in it (`.` is here). Raises NotFound if no session ran there."""
    name = find_project_name(_lessons.load_project_folders(connection), wanted)
    if name is None:
        raise NotFound(
            f"no project `{wanted}` is known; `preheat learn` takes in new ones, `preheat sessions list` shows the folders"
        )
    return name


def find_project_name(known: "Sequence[ProjectFolder]", wanted: str) -> str | None:
    """The name of a project, given its name or a folder in it; None if no session ran there."""
    named_places = [place for place in known if place.name]
    for place in named_places:
        if wanted in (place.name, place.folder, place.root):
            return place.name
    root = project_root(os.path.abspath(os.path.expanduser(wanted)))
    for place in named_places:
        if root and root in (place.root, place.folder):
            return place.name
    # A checkout that no session ran in yet: a team's sessions of the same name are of the same project.
    same_name = {place.name for place in named_places if root and place.name.lower() == folder_name(root).lower()}
    return same_name.pop() if len(same_name) == 1 else None


def project_folder(where: str) -> str:
    """The folder that identifies a project: the root of the repository around a folder, else the folder itself."""
    folder = os.path.realpath(os.path.expanduser(where))
    return project_root(folder) or folder


def project_root(folder: str) -> str:
    """The root of the project around a folder; empty for a home folder, which is no project."""
    return root_of(folder, find_repository)


def find_repository(folder: str) -> str:
    """The root of the repository that a folder of this machine belongs to; empty where there is none."""
    while folder and os.path.isabs(folder):
        if os.path.exists(os.path.join(folder, ".git")):
            return folder
        above = os.path.dirname(folder)
        if above == folder:
            break
        folder = above
    return ""


def projects_by_folder(folders: Mapping[str, int]) -> "dict[str, ProjectFolder]":
    """The project of each folder, from the folders in which sessions ran and the number of sessions in each."""
    roots = {folder: project_root(folder) for folder in folders}
    sessions: dict[str, int] = {}
    for folder, count in folders.items():
        sessions[roots[folder]] = sessions.get(roots[folder], 0) + count
    project_names = name_projects(sessions)
    return {folder: _lessons.ProjectFolder(folder, root, project_names[root]) for folder, root in roots.items()}
