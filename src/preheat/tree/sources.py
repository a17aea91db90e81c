"""Where the files of an index come from: a folder of this machine, or a commit of a repository without a checkout.

Both say which files there are, each with a stamp that changes with its contents, and read them. Knows no index.
"""

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import chain, islice
from typing import NamedTuple, Protocol

from preheat.files import open_file
from preheat.tree.contents import (
    MOST_BYTES,
    is_in_left_out_folder,
    is_left_out_folder,
    kind_by_name,
    may_be_named,
)
from preheat.tree.git import ObjectReader, Repository, ask, read_records

_LIST_SECONDS = 60.0


class FoundFile(NamedTuple):
    """A file that a source has."""

    stamp: str
    """Changes when the contents do."""
    size: int


class Listing(NamedTuple):
    """The files of a source."""

    files: dict[str, FoundFile]
    """By path, relative to the root and with slashes."""
    left_out: int
    """Files beyond the limit."""


class Source(Protocol):
    """Where files come from."""

    @property
    def root(self) -> str: ...

    @property
    def repository(self) -> Repository | None:
        """The repository with the history; None without one."""

    @property
    def head(self) -> str:
        """The id of the commit whose history counts; empty without one."""

    def list_files(self, most: int) -> Listing: ...

    def read_files(self, files: Iterable[tuple[str, FoundFile]]) -> Iterator[tuple[str, bytes | None]]:
        """The contents of files, in the order given; None for what cannot be read."""


def _choose(found: dict[str, FoundFile], most: int) -> Listing:
    """Files up to a limit; those with contents come before those of which only the path is of use."""
    if len(found) <= most:
        return Listing(found, 0)
    chosen: dict[str, FoundFile] = {}
    rest: dict[str, FoundFile] = {}
    for path, each in found.items():
        (chosen if kind_by_name(path, each.size) == "text" else rest)[path] = each
    kept = dict(islice(chain(chosen.items(), rest.items()), most))
    return Listing(kept, len(found) - len(kept))


class WorkingTree:
    """A folder of this machine: what git lists there, else everything below it but folders that hold nothing of one's own."""

    def __init__(self, root: str) -> None:
        self.root = root
        own = Repository(root)
        is_repository = ask(own, "rev-parse", "--is-inside-work-tree") == "true"
        self.repository = own if is_repository else None
        self.head = ask(own, "rev-parse", "--verify", "--quiet", "HEAD^{commit}") if is_repository else ""

    def list_files(self, most: int) -> Listing:
        found: dict[str, FoundFile] = {}
        before = os.path.join(self.root, "")
        for path in self._listed_paths() if self.repository else self._walked_paths():
            if not may_be_named(path) or is_in_left_out_folder(path):
                continue
            try:
                status = os.lstat(f"{before}{path}")
            except (OSError, ValueError):
                continue
            if stat.S_ISREG(status.st_mode):
                stamp = f"{status.st_mtime_ns:x}.{status.st_ctime_ns:x}.{status.st_size:x}"
                found[path] = FoundFile(stamp, status.st_size)
        return _choose(found, most)

    def _listed_paths(self) -> Iterator[str]:
        words = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
        for record in read_records(Repository(self.root), *words, seconds=_LIST_SECONDS):
            yield os.fsdecode(record)

    def _walked_paths(self) -> Iterator[str]:
        for folder, folders, names in os.walk(self.root):
            folders[:] = sorted(name for name in folders if not is_left_out_folder(name, is_versioned=False))
            inside = os.path.relpath(folder, self.root).replace(os.sep, "/")
            for name in sorted(names):
                yield name if inside == "." else f"{inside}/{name}"

    def read_files(self, files: Iterable[tuple[str, FoundFile]]) -> Iterator[tuple[str, bytes | None]]:
        for path, _ in files:
            try:
                with open_file(os.path.join(self.root, path)) as file:
                    yield path, file.read(MOST_BYTES)
            except OSError:
                yield path, None


class CommittedTree:
    """The files of one commit, read from a repository: no working tree is needed."""

    def __init__(self, git_folder: str, commit: str) -> None:
        self.root = git_folder
        self.repository: Repository | None = Repository(git_folder, is_bare=True)
        self.head = commit

    def list_files(self, most: int) -> Listing:
        found: dict[str, FoundFile] = {}
        own = Repository(self.root, is_bare=True)
        for record in read_records(own, "ls-tree", "-r", "-z", "--long", self.head, seconds=_LIST_SECONDS):
            facts, _, raw_path = record.partition(b"\t")
            words = facts.decode("ascii", "replace").split()
            path = os.fsdecode(raw_path)
            if len(words) != 4 or not words[0].startswith("100") or not words[3].isdigit():
                continue  # a link, a submodule, or an object that is not there
            if may_be_named(path) and not is_in_left_out_folder(path):
                found[path] = FoundFile(words[2], int(words[3]))
        return _choose(found, most)

    def read_files(self, files: Iterable[tuple[str, FoundFile]]) -> Iterator[tuple[str, bytes | None]]:
        with closing(ObjectReader(Repository(self.root, is_bare=True))) as reader:
            for path, found in files:
                yield path, reader.read(found.stamp)
