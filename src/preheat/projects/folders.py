"""Paths of folders, of any system and whether or not they exist: homes, worktrees, what lies in what. Reads no file."""

import re

_HOMES = re.compile(
    r"(?i)^(?:/(?:Users|home)(?:/[^/]+)?|[A-Z]:[\\/]Users(?:[\\/][^\\/]+)?|/root|/var/root|[A-Z]:[\\/]?(?:Windows.*)?|/|~)[\\/]?$"
)
_TEMPORARY = re.compile(
    r"(?i)^(?:(?:/private)?/tmp|(?:/private)?/var/(?:tmp|folders)|[A-Z]:[\\/]Users[\\/][^\\/]+[\\/]AppData)(?:[\\/]|$)"
)
_INSTALLED = re.compile(
    r"(?i)^/(?:usr|opt|etc|bin|lib|Library|Applications)(?:/|$)|[\\/](?:node_modules|site-packages)(?:[\\/]|$)"
)
_HIDDEN = re.compile(r"(?i)^(?:/(?:Users|home)/[^/]+|/root|[A-Z]:[\\/]Users[\\/][^\\/]+)[\\/]\.")
_WORKTREE = re.compile(r"^(.+?)[\\/]\.(?:[\w-]+[\\/])?worktrees[\\/].+$")
_COLLECTION = re.compile(r"(?i)^(.*[\\/]\.?(?:worktrees|workspaces))[\\/](.+)$")
_SHARED = re.compile(r"^/[^/]+/?$")
_SEPARATORS = re.compile(r"[\\/]+")


def is_home(folder: str) -> bool:
    """Whether a folder is somebody's home, or one above it: no project."""
    return not folder or _HOMES.match(folder) is not None


def is_temporary(folder: str) -> bool:
    """Whether a folder is in a place for temporary files."""
    return _TEMPORARY.match(folder) is not None


def is_foreign(folder: str) -> bool:
    """Whether a folder is of an installed program or package, or hidden in a home and no worktree: nobody's place of work."""
    return _INSTALLED.search(folder) is not None or (
        _HIDDEN.match(folder) is not None and not _COLLECTION.match(folder)
    )


def is_shared(folder: str) -> bool:
    """Whether a folder lies directly below the root, as a container has it (`/testbed`, `/app`): its contents change."""
    return _SHARED.match(folder) is not None and not is_home(folder)


def main_folder(folder: str) -> str:
    """Of a worktree inside its repository (`app/.worktrees/fix`): the repository's folder; else the folder itself. Empty for a
    home folder."""
    folder = folder.rstrip("/\\") or folder
    inside = _WORKTREE.match(folder)
    if inside and not is_home(inside[1]):
        folder = inside[1]
    return "" if is_home(folder) else folder


def collection_groups(folder: str) -> list[tuple[str, str]]:
    """The groups of a folder in a collection of worktrees, such as `…/workspaces/app/rome` or `…/worktrees/7f3a/app`: the
    collection, with each part of the path below it."""
    found = _COLLECTION.match(folder)
    if found is None:
        return []
    parts = split_path(found[2])
    return [(found[1], part) for part in dict.fromkeys(parts)] if len(parts) > 1 else []


def is_within(folder: str, outer: str) -> bool:
    """Whether a folder is another one or lies in it."""
    return folder == outer or folder.startswith((f"{outer}/", f"{outer}\\"))


def is_absolute(path: str) -> bool:
    return path[:1] == "/" or path[1:3] in (":\\", ":/")


def split_path(path: str) -> list[str]:
    """The parts of a path."""
    return [part for part in _SEPARATORS.split(path) if part]


def folder_name(path: str) -> str:
    """The last part of a path."""
    return (split_path(path) or [path])[-1]
