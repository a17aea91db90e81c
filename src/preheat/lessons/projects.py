"""Which sessions belong to one project: by their folders, worktrees and the same project on several machines included.

Knows no archive. A folder of the same name is the same project for different people (a team's archive), never for one
person: two folders `app` in one home are two projects.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping

_WORKTREE = re.compile(r"^(.+?)[\\/]\.(?:[\w-]+[\\/])?worktrees[\\/].+$")
_OWNER = re.compile(r"(?i)^(?:/(?:Users|home)/([^/]+)|[A-Z]:[\\/]Users[\\/]([^\\/]+)|([A-Z]:)|(/root)|/([^/]+))")
_HOMES = re.compile(
    r"(?i)^(?:/(?:Users|home)/[^/]+|[A-Z]:[\\/]Users[\\/][^\\/]+|/root|[A-Z]:[\\/]?(?:Windows.*)?|/|~)[\\/]?$"
)


def root_of(folder: str, top: Callable[[str], str] | None = None) -> str:
    """The project's folder: of a worktree the folder it belongs to, else what `top` says (the repository's root, where the
    folder is on this machine), else the folder itself. Empty for a home folder, which is no project."""
    folder = folder.rstrip("/\\") or folder
    inside = _WORKTREE.match(folder)
    if inside and not _HOMES.match(inside[1]):
        folder = inside[1]
    elif top is not None:
        folder = top(folder) or folder
    return "" if not folder or _HOMES.match(folder) else folder


def name_projects(roots: Mapping[str, int]) -> dict[str, str]:
    """The project's name for each root (given with how many sessions it has).

    Roots of one last part are one project if they have different owners; of those of one owner the one with most sessions
    is that project, and the others go by their whole path."""
    alike: defaultdict[str, list[str]] = defaultdict(list)
    for root in roots:
        if root:
            alike[_parts(root)[-1].lower()].append(root)
    found: dict[str, str] = {"": ""}
    for group in alike.values():
        main: dict[str, str] = {}
        for root in sorted(group, key=lambda each: (-roots[each], each)):
            main.setdefault(_owner(root), root)
        shared = _parts(next(iter(main.values())))[-1]
        for root in group:
            found[root] = shared if main[_owner(root)] == root else root
    return found


def _owner(root: str) -> str:
    found = _OWNER.match(root)
    return next((part.lower() for part in found.groups() if part), "") if found else ""


def folder_name(root: str) -> str:
    """The last part of a folder's path."""
    return _parts(root)[-1]


def _parts(root: str) -> list[str]:
    return [part for part in re.split(r"[\\/]+", root) if part] or [root]
