"""The indexes of working trees: of which folders there are some, bringing them up to date, looking things up, deleting them.

Light until an index is read or updated: numbers and grammars are loaded then.
"""

import os
import sqlite3
import time
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Annotated

import msgspec

from preheat.app.lazy import LazyModule
from preheat.app.projects import find_repository, project_root
from preheat.archive import queries as _queries
from preheat.archive.address import has_archive
from preheat.archive.connect import connect
from preheat.errors import NotFound
from preheat.model.listing import SessionFilter
from preheat.model.tree import TreeSummary, TreeUpdate
from preheat.settings_file import load_section
from preheat.tree import store

if TYPE_CHECKING:
    from preheat.tree import index as _index
    from preheat.tree.index import TreeIndex
else:
    _index = LazyModule("preheat.tree.index")

RECENT_DAYS = 30
"""A folder is indexed if a session ran in it within these days."""
MOST_ROOTS = 20
_DAY = 86400.0


class TreeSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings below `[tree]` in `settings.toml`."""

    enabled: bool = True
    """Whether working trees are indexed in quiet times."""
    files: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)] = 100_000
    """Files of one index; of more, text that people wrote comes first."""


class Trees:
    """The indexes in Preheat's folder. A root is a folder of this machine."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def settings(self) -> TreeSettings:
        """The person's settings. Raises UserError."""
        return load_section(self._folder, "tree", TreeSettings())

    def open(self, root: str) -> "TreeIndex":
        """The index of a root, for looking things up; without one every answer is empty."""
        return _index.TreeIndex.open(self._folder, root)

    def update(self, root: str) -> TreeUpdate:
        """Bring the index of a root up to date, or make it. Raises UserError, NotFound."""
        if not os.path.isdir(root):
            raise NotFound(f"there is no folder `{root}`")
        with self.open(root) as index:
            return index.update(most_files=self.settings().files)

    def recent_roots(self) -> list[str]:
        """The folders in which sessions ran lately, by the root of their repository, the last one first; none if turned off."""
        if not self.settings().enabled or not has_archive(self._folder):
            return []
        with closing(connect(self._folder)) as connection:
            sessions = _queries.list_sessions(connection, SessionFilter(since=time.time() - RECENT_DAYS * _DAY))
        roots = dict.fromkeys(map(_root_of, dict.fromkeys(session.project for session in sessions)))
        return [root for root in roots if root and os.path.isdir(root)][:MOST_ROOTS]

    def list(self) -> "list[TreeSummary]":
        """Every index on this machine, by root."""
        found = [summary for path in store.database_paths(self._folder) if (summary := _summarise(path)) is not None]
        return sorted(found, key=lambda summary: summary.root)

    def forget(self, root: str) -> int:
        """Delete the index of a root and of folders below it; how many there were. Raises OSError."""
        return delete_indexes(self._folder, lambda each: is_inside(each, os.path.realpath(root)))

    def forget_gone(self) -> int:
        """Delete the indexes of folders that are no more; how many there were. Raises OSError."""
        return delete_indexes(self._folder, lambda each: not os.path.isdir(each))


def _root_of(folder: str) -> str:
    """The root of the checkout around a folder, worktrees by themselves; empty for what is no project."""
    return find_repository(folder) or folder if project_root(folder) else ""


def is_inside(folder: str, root: str) -> bool:
    """Whether a folder is this one, or below it."""
    return folder == root or folder.startswith(os.path.join(root, ""))


def delete_indexes(folder: str, is_doomed: Callable[[str], bool]) -> int:
    """Delete the indexes whose roots are doomed; how many there were. One that cannot be read is deleted, too."""
    doomed = [path for path in store.database_paths(folder) if not (root := store.read_root(path)) or is_doomed(root)]
    for path in doomed:
        store.delete_database(path)
    return len(doomed)


def forget_unused(folder: str, forgotten: Iterable[str], remaining: Iterable[str]) -> int:
    """Delete the indexes of roots in which sessions were forgotten and none remains; how many there were.

    Both are the folders of sessions."""
    gone, left = set(map(os.path.realpath, forgotten)), set(map(os.path.realpath, remaining))
    return delete_indexes(
        folder,
        lambda root: any(is_inside(each, root) for each in gone) and not any(is_inside(each, root) for each in left),
    )


def _summarise(path: str) -> TreeSummary | None:
    connection = store.open_for_reading(path)
    if connection is None:
        return None
    with closing(connection), suppress(sqlite3.Error, OSError):
        root = os.fsdecode(store.load_fact(connection, "root"))
        files, symbols = connection.execute("SELECT count(*), coalesce(sum(symbol_count), 0) FROM file").fetchone()
        return TreeSummary(
            root=root,
            files=files,
            symbols=symbols,
            bytes=sum(os.path.getsize(each) for each in (path, f"{path}-wal") if os.path.exists(each)),
            updated_at=float(store.load_fact(connection, "updated_at") or b"0"),
            exists=os.path.isdir(root),
        )
    return None
