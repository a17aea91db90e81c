"""Finds the project of a folder of this machine, and the place of a session.

Knows nothing of lessons; sessions are assigned to projects in `app.project_assignment`. Light: the start of a session looks up
its project here, from git's own files.
"""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from preheat.app.lazy import LazyModule
from preheat.archive.database import ArchiveConnection
from preheat.checkouts import Checkout, find_checkout, find_package, root_commits
from preheat.errors import NotFound
from preheat.model.project import SessionPlace, TreeFacts
from preheat.projects.folders import is_home, main_folder

if TYPE_CHECKING:
    import difflib as _difflib

    from preheat.archive import projects as _projects
    from preheat.model.session import Session
    from preheat.projects import statement as _statement
else:
    _difflib = LazyModule("difflib")  # only for a mistyped name
    _statement = LazyModule("preheat.projects.statement")  # loads the parser of commands
    _projects = LazyModule("preheat.archive.projects")  # a session's start with a template does not need it


class FoundProject(NamedTuple):
    """A project of the archive."""

    key: str
    name: str


def require_project(connection: ArchiveConnection, wanted: str) -> str:
    """The name of a project, given its name or a folder in it (`.` is here). Raises NotFound if no session ran there."""
    found = find_project(connection, wanted)
    if found is None:
        raise explain_unknown_project(connection, wanted)
    return found.name


def explain_unknown_project(connection: ArchiveConnection, wanted: str) -> NotFound:
    """The error for a project that no session belongs to, with the known names that are like it."""
    known = {name.casefold(): name for name in _projects.load_project_names(connection).values()}
    end = os.path.basename(os.path.abspath(os.path.expanduser(wanted))).casefold()
    close = dict.fromkeys(
        [*_difflib.get_close_matches(wanted.casefold(), known, 3), *_difflib.get_close_matches(end, known, 3)]
    )
    meant = f"did you mean {' or '.join(f'`{known[name]}`' for name in list(close)[:3])}?" if close else ""
    if meant and os.path.isdir(os.path.expanduser(wanted)):
        meant += f" If this folder is of it, `preheat projects link {wanted} {known[next(iter(close))]}` says so"
    advice = meant or "`preheat projects list` shows those that are, `preheat sync` takes in new ones"
    return NotFound(f"no project `{wanted}` is known; {advice}")


def find_project(connection: ArchiveConnection, wanted: str) -> FoundProject | None:
    """A project by its name, its remote or a folder in it; None if no session belongs to it. A word that is neither a name nor a
    folder is a mistyped name, and not a place in the repository around."""
    if wanted and wanted[0] not in ".~" and not os.path.isabs(wanted):
        named = _projects.find_named_project(connection, wanted)
        if named is not None:
            return FoundProject(*named)
        if not os.path.lexists(wanted):
            return None
    return find_project_at(connection, wanted)


def find_project_at(connection: ArchiveConnection, where: str) -> FoundProject | None:
    """The project of a folder; None if no session belongs to it."""
    folder = os.path.abspath(os.path.expanduser(where))
    found = _projects.find_project_by(connection, [f"folder:{each}" for each in _folders_around(folder)])
    checkout = find_checkout(folder)
    if found is not None:
        pass  # a person said so
    elif checkout is None or is_home(checkout.main):
        found = _projects.find_project_by(connection, [f"path:{root}"] if (root := main_folder(folder)) else [])
    else:
        found = _find_by_checkout(connection, checkout, find_package(folder, checkout.root))
    return FoundProject(*found) if found is not None else None


def _find_by_checkout(connection: ArchiveConnection, checkout: Checkout, package: str) -> tuple[str, str] | None:
    """The project of a repository: by its remote, else by its folders, else by its root commits. With a remote that is not known
    it is the project of its folder only if this had no remote before."""
    if checkout.remote:
        ending = f"#{package}" if package else ""
        found = _projects.find_project_by(connection, [f"remote:{checkout.remote.casefold()}{ending}"])
        if found is not None:
            return found
    roots = dict.fromkeys((checkout.main, checkout.root))
    found = _projects.find_project_by(
        connection, [f"path:{root}/{package}" if package else f"path:{root}" for root in roots]
    )
    if found is not None and (not checkout.remote or not found[0].startswith("remote:")):
        return found
    if checkout.remote or package:
        return None
    return _projects.find_project_by(connection, (f"commit:{commit}" for commit in root_commits(checkout)))


def _folders_around(folder: str) -> Iterator[str]:
    while not is_home(folder):
        yield folder
        above = os.path.dirname(folder)
        if above == folder:
            return
        folder = above


def project_folder(where: str) -> str:
    """The folder that identifies a project: the root of the repository around a folder, else the folder itself."""
    folder = os.path.realpath(os.path.expanduser(where))
    return project_root(folder) or folder


def project_root(folder: str) -> str:
    """The root of the project around a folder, of a worktree that of its repository; empty for a home folder, which is no
    project."""
    checkout = find_checkout(folder)
    root = checkout.main if checkout is not None else main_folder(folder)
    return "" if is_home(root) else root


def find_repository(folder: str) -> str:
    """The root of the checkout that a folder of this machine belongs to; empty where there is none."""
    checkout = find_checkout(folder)
    return checkout.root if checkout is not None else ""


# The place of a session.
def find_place(session: "Session") -> SessionPlace:
    """Where a session worked: by its calls, what it says, and what the working tree says while there is one."""
    stated = _statement.read_statement(session, _checkout_root)
    tree = _read_tree(stated.home) if stated.home else None
    root = tree.main if tree is not None else main_folder(stated.home)
    return msgspec.structs.replace(stated, tree=tree, root="" if is_home(root) else root)


def _checkout_root(folder: str) -> str:
    root = find_repository(folder)
    return "" if is_home(root) else root


def _read_tree(folder: str) -> TreeFacts | None:
    checkout = find_checkout(folder)
    if checkout is None or is_home(checkout.root):
        return None
    return TreeFacts(
        root=checkout.root,
        main=checkout.main,
        remote=checkout.remote,
        commits=root_commits(checkout),
        package=find_package(folder, checkout.root),
    )
