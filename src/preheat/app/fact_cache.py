"""What the files of a working tree say, kept beside the archive: a start need not read them anew while none of them changed.

Only a short cut: it is ignored unless every file and folder that it was read from is as it was. Secrets are taken out before it
is written. Knows nothing of what facts say.
"""

import os
from collections.abc import Iterable
from contextlib import suppress
from hashlib import blake2b

import msgspec

from preheat.facts import ProjectTree
from preheat.files import read_file, write_atomically
from preheat.ingest.redact import redact
from preheat.model.lesson import Lesson

FOLDER = "tree-facts"
_VERSION = 5
_LARGEST = 16 * 1024 * 1024
_MOST = 60
"""Projects that are kept."""
_GIT_FILES = ("HEAD", "index", "logs/HEAD")
"""Files of git that change with a commit, a checkout and an added file."""


class _Kept(msgspec.Struct, array_like=True):
    """What was read from a working tree."""

    version: int
    project: str
    stamps: dict[str, int]
    """By path, when it had last changed, in nanoseconds."""
    paths: list[str]
    texts: dict[str, str]
    subjects: list[str]
    facts: list[Lesson]
    changelog_changes: int | None = None


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(_Kept)


def load(folder: str, root: str, project: str) -> tuple[ProjectTree, list[Lesson]] | None:
    """The tree at a root and its facts; None if nothing is kept of it, or something changed since."""
    try:
        kept = _DECODER.decode(read_file(_place(folder, root), _LARGEST))
    except (OSError, ValueError, msgspec.DecodeError):
        return None
    is_current = kept.version == _VERSION and kept.project == project
    if not is_current or any(changed_at(path) != at for path, at in kept.stamps.items()):
        return None
    tree = ProjectTree(frozenset(kept.paths), kept.texts, kept.subjects, project, kept.changelog_changes)
    return tree, kept.facts


def save(folder: str, root: str, tree: ProjectTree, facts: Iterable[Lesson]) -> None:
    """Keep a tree and its facts. Errors are ignored: it is only a short cut."""
    if not os.path.isdir(folder):  # the start of a session makes no folder of ours
        return
    texts = {
        path: redact(text.encode("utf-8", "replace"))[0].decode("utf-8", "replace") for path, text in tree.texts.items()
    }
    subjects = [redact(each.encode("utf-8", "replace"))[0].decode("utf-8", "replace") for each in tree.subjects]
    kept = _Kept(
        _VERSION,
        tree.project,
        _stamps(root, tree),
        sorted(tree.paths),
        texts,
        subjects,
        list(facts),
        tree.changelog_changes,
    )
    data = _ENCODER.encode(kept)
    if len(data) > _LARGEST:
        return
    with suppress(OSError):
        write_atomically(_place(folder, root), data, make_folders=True)
        _drop_oldest(os.path.join(folder, FOLDER))


def changed_at(path: str) -> int:
    """When a file or folder had last changed, in nanoseconds; 0 if it is not there."""
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


def _stamps(root: str, tree: ProjectTree) -> dict[str, int]:
    """The files that were read, the folders that hold them, where others may appear, and git's own."""
    folders = {os.path.dirname(path) for path in tree.texts} | {""}
    files = (os.path.join(root, *path.split("/")) for path in (*tree.texts, *sorted(folders)))
    git = _git_folder(root)
    return {path: changed_at(path) for path in (*files, *(os.path.join(git, name) for name in _GIT_FILES))}


def _git_folder(root: str) -> str:
    """The folder of git's own files; that of a worktree is named in a file."""
    place = os.path.join(root, ".git")
    if os.path.isdir(place):
        return place
    with suppress(OSError):
        name, _, target = read_file(place, 4096).decode("utf-8", "replace").partition(":")
        if name == "gitdir":
            return os.path.normpath(os.path.join(root, target.strip()))
    return place


def _place(folder: str, root: str) -> str:
    name = blake2b(os.path.realpath(root).encode("utf-8", "surrogateescape"), digest_size=12).hexdigest()
    return os.path.join(folder, FOLDER, f"{name}.tree")


def _drop_oldest(folder: str) -> None:
    found = sorted((os.path.join(folder, name) for name in os.listdir(folder)), key=changed_at, reverse=True)
    for path in found[_MOST:]:
        os.unlink(path)
