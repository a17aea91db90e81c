"""What git's own files say of a folder: its checkout, the repository that this belongs to, the main remote, the root commits.

Read from the files themselves, which runs nothing; only root commits are asked of git (`programs.ask_git`). A `.git` file counts
only if the folder that it names points back, as git writes it: anybody can put such a file into a folder. Light: the start of a
session waits for it. Knows no session.
"""

import os
from functools import lru_cache
from typing import NamedTuple

from preheat.files import read_text
from preheat.programs import ask_git
from preheat.remotes import normalise_remote

_MOST = 256 * 1024
"""Bytes of a configuration; no real one is as long."""
_MOST_ROOTS = 8
_MOST_HOPS = 3
"""Clones of clones that are followed to the remote of the first."""
MANIFESTS = (
    "package.json",
    "pyproject.toml",
    "Cargo.toml",
    "go.mod",
    "setup.py",
    "composer.json",
    "pom.xml",
    "Gemfile",
)
"""Files that make a folder a package of its own."""


class Checkout(NamedTuple):
    """A working tree of a repository."""

    root: str
    main: str
    """Of a linked worktree: the working tree that it was made from; else the root."""
    common: str
    """The folder with the repository's objects and settings."""
    remote: str
    """The main remote, normalised; empty if there is none on another machine."""


def find_checkout(folder: str) -> Checkout | None:
    """The checkout around a folder; None if there is none."""
    while os.path.isabs(folder):
        entry = os.path.join(folder, ".git")
        if os.path.lexists(entry):
            return _read_checkout(folder, entry)
        above = os.path.dirname(folder)
        if above == folder:
            break
        folder = above
    return None


def _read_checkout(root: str, entry: str) -> Checkout:
    if os.path.isdir(entry):
        return Checkout(root, root, entry, _main_remote(entry))
    own = _read_pointer(_read(entry), "gitdir:", root)
    back = _read_pointer(_read(os.path.join(own, "gitdir")), "", own) if own else ""
    if back:  # a linked worktree
        if os.path.realpath(back) != os.path.realpath(entry):
            return Checkout(root, root, "", "")
        common = _read_pointer(_read(os.path.join(own, "commondir")), "", own) or own
        return Checkout(root, _main_folder(common), common, _main_remote(common))
    worktree = _settings(own).get(("core", "", "worktree"), "") if own else ""  # a submodule
    if worktree and os.path.realpath(os.path.join(own, worktree)) == os.path.realpath(root):
        return Checkout(root, root, own, _main_remote(own))
    return Checkout(root, root, "", "")


def _main_folder(common: str) -> str:
    """The folder of the main working tree; of a bare repository that is hidden in a folder, this folder."""
    return os.path.dirname(common) if os.path.basename(common).startswith(".") else common


def _read_pointer(text: str, label: str, base: str) -> str:
    """The folder that a line of git's names, relative to `base`."""
    line = text.partition("\n")[0].strip()
    if not line.startswith(label) or "\0" in line:
        return ""
    path = line.removeprefix(label).strip()
    return os.path.normpath(os.path.join(base, path)) if path else ""


def _read(path: str) -> str:
    try:
        return read_text(path, _MOST)
    except (OSError, ValueError):
        return ""


def _settings(common: str) -> dict[tuple[str, str, str], str]:
    """The settings of a repository, by section, subsection and name; files that it includes are not read."""
    found: dict[tuple[str, str, str], str] = {}
    section = subsection = ""
    for raw in _read(os.path.join(common, "config")).splitlines():
        line = raw.strip()
        if line.startswith("["):
            head, _, rest = line[1:].partition("]")[0].partition('"')
            section, subsection = head.strip().lower(), rest.removesuffix('"')
        elif line and line[0] not in "#;":
            name, _, value = line.partition("=")
            found.setdefault((section, subsection, name.strip().lower()), value.strip().strip('"'))
    return found


def _main_remote(common: str, hops: int = _MOST_HOPS) -> str:
    """The remote `origin`, else the first one. A clone of a folder on this machine has the remote of that."""
    addresses = {
        subsection: value
        for (section, subsection, name), value in _settings(common).items()
        if section == "remote" and name == "url"
    }
    address = addresses.get("origin") or next(iter(addresses.values()), "")
    remote = normalise_remote(address)
    path = address.removeprefix("file://")
    if remote or not hops or not os.path.isabs(path):
        return remote
    for inside in (os.path.join(path, ".git"), path):
        if os.path.isfile(os.path.join(inside, "HEAD")):
            return _main_remote(inside, hops - 1)
    return ""


def root_commits(checkout: Checkout) -> tuple[str, ...]:
    """The root commits of a checkout; none of a shallow one, whose oldest commits are no roots."""
    if not checkout.common or os.path.exists(os.path.join(checkout.common, "shallow")):
        return ()
    try:
        stamp = os.stat(os.path.join(checkout.common, "config"))
    except OSError:
        return ()
    return _root_commits(checkout.root, checkout.common, stamp.st_ino, stamp.st_mtime_ns)


@lru_cache(maxsize=256)
def _root_commits(root: str, common: str, *stamp: int) -> tuple[str, ...]:
    found = ask_git(root, "rev-list", "--max-parents=0", f"--max-count={_MOST_ROOTS}", "HEAD").split()
    return tuple(sorted(found))


def find_package(folder: str, root: str) -> str:
    """The folder with a manifest of its own that is around a folder, relative to the root; empty if that is the root itself."""
    while folder != root and len(folder) > len(root):
        if any(os.path.isfile(os.path.join(folder, name)) for name in MANIFESTS):
            return os.path.relpath(folder, root).replace(os.sep, "/")
        folder = os.path.dirname(folder)
    return ""
