"""What facts are made of: the files of a working tree that say how a project is worked on; and how a fact is made. Pure."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from posixpath import dirname
from typing import NamedTuple

from preheat.model.lesson import Lesson, Scope, lesson_id

FACT_TOPICS = (
    "test", "build", "lint", "typecheck", "format", "check", "package", "serve", "setup", "variable", "generate", "hook",
    "commit", "branch", "pull_request", "release", "deploy", "version",
    "missing", "script",
)  # fmt: skip
"""Topics of facts, in the order in which they are said. `check` is everything at once, `package` the checks of one package."""
_WORTH = 0.55
"""The score of what a file of the project says and no session has tried."""


class ProjectTree(NamedTuple):
    """The working tree of a project, as far as facts need it."""

    paths: frozenset[str] = frozenset()
    """Its files, relative to the project."""
    texts: Mapping[str, str] = {}
    """The contents of those that `wanted_files` names."""
    subjects: Sequence[str] = ()
    """The first lines of its newest commits."""
    project: str = ""
    """Its name in lessons."""
    changelog_changes: int | None = None
    """How many of its newest commits change the changelog; None where that is not known."""

    def has_folder(self, folder: str) -> bool:
        return not folder or folder in _names_by_folder(self.paths) or self._is_above(folder)

    def has_place(self, path: str) -> bool:
        """Whether there is a file or a folder at a path."""
        return path in self.paths or self.has_folder(path)

    def _is_above(self, folder: str) -> bool:
        return any(each.startswith(f"{folder}/") for each in _names_by_folder(self.paths))

    def names_in(self, folder: str) -> frozenset[str]:
        """The names of the files that lie in a folder itself; the empty one is the project's own."""
        return _names_by_folder(self.paths).get(folder, frozenset())

    def find(self, *names: str, deepest: int = 3) -> list[str]:
        """The files of these names, the highest first."""
        found = (path for name in names for path in _paths_by_name(self.paths).get(name, ()))
        return sorted((path for path in found if path.count("/") <= deepest), key=lambda path: (path.count("/"), path))


@lru_cache(maxsize=4)
def _names_by_folder(paths: frozenset[str]) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for path in paths:
        folder, _, name = path.rpartition("/")
        found.setdefault(folder, set()).add(name)
    return {folder: frozenset(names) for folder, names in found.items()}


@lru_cache(maxsize=4)
def _paths_by_name(paths: frozenset[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path in paths:
        found.setdefault(path.rpartition("/")[2], []).append(path)
    return found


EMPTY_TREE = ProjectTree()


class ImpliedCommand(NamedTuple):
    """A command that a manifest implies."""

    topic: str
    command: str
    about: str
    """Empty for the whole; else the form: `one test`, `one file`."""
    folder: str
    file: str


def make_fact(
    tree: ProjectTree,
    topic: str,
    key: tuple[str, ...],
    text: str,
    *,
    reach: float,
    use: str = "",
    avoid: str = "",
    files: tuple[str, ...] = (),
    details: dict[str, str] | None = None,
) -> Lesson:
    """A fact that the tree states: true as long as its files say so, however many sessions there were. `reach` is how likely a
    session needs it."""
    scope = Scope(project=tree.project)
    return Lesson(
        id=lesson_id("convention", scope, "tree", topic, *key),
        kind="convention",
        scope=scope,
        topic=topic,
        text=text,
        use=use,
        avoid=avoid,
        files=files,
        details=details or {},
        score=_WORTH,
        reach=reach,
        half_life=0.0,
    )


MOVED = re.compile(r"^cd (?P<folder>[\w./@-]+) && (?P<rest>.*)$", re.DOTALL)
"""A command that goes to a folder of the project first."""
_PLACE = re.compile(r"(?:\./)?(?P<path>(?:[A-Za-z_][\w-]*/)+(?:[\w-]+(?:\.[\w-]+)*)?)(?:\.\.\.)?")
"""A word that is a path below the project: with a slash, its first folder without a dot."""
_MADE = frozenset(
    ["dist", "build", "out", "target", "coverage", "bin", "tmp", "node_modules", "vendor", "origin", "upstream"]
)
"""Folders that are made by commands, and remotes of git."""


def cites_missing_place(command: str, tree: ProjectTree) -> bool:
    """Whether a command names a folder or a file that the tree does not have (any more). Of words that stand after an option
    nothing is known: they may be its value."""
    moved = MOVED.match(command)
    folder = moved["folder"].rstrip("/") if moved else ""
    words = (moved["rest"] if moved else command).split()
    for before, word in pairwise(words):
        place = _PLACE.fullmatch(word)
        if place is None or before.startswith("-"):
            continue
        path = place["path"].rstrip("/")
        if path.partition("/")[0] in _MADE or any(part in _PLACEHOLDERS for part in path.split("/")):
            continue
        if not tree.has_place(f"{folder}/{path}" if folder else path):
            return True
    return False


_PLACEHOLDERS = frozenset(["PATH", "FOLDER", "NAME", "FILE", "VALUE", "PACKAGE", "TEXT", "URL"])


def in_folder(folder: str, command: str) -> str:
    """A command as it is typed from the project's own folder."""
    return f"cd {folder} && {command}" if folder and command else command


def parents(path: str) -> list[str]:
    """The folders that a path lies in, the nearest first, down to the project's own."""
    found = []
    folder = dirname(path)
    while folder.strip("/"):
        found.append(folder)
        folder = dirname(folder)
    return [*found, ""]
