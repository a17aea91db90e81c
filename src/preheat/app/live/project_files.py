"""The working tree of a project as the rules of `answers` may look at it: on this machine's disk, within limits of time and size.

Names are listed once, by git or by a bounded walk, in a thread that nobody waits for; what is there now is asked of the disk.
Where a limit is reached nothing is known: `unknown`, None or nothing.
"""

import os
import re
import stat
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

import msgspec

from preheat.answers.values import Listener, PathKind
from preheat.app.live.ports import find_listener
from preheat.errors import PreheatError
from preheat.files import read_text
from preheat.programs import ask_git

SECONDS = 0.02
"""How long the rules may look at the disk for one event."""
_MOST_PATHS = 200_000
_MOST_FOLDERS = 20_000
_MOST_NAMES = 2_000
_LARGEST_TEXT = 1_000_000
_LONGEST_PATH = 2_000
_SKIPPED = frozenset(
    [".git", "node_modules", ".venv", "venv", "__pycache__", "target", "dist", "build", ".tox", ".cache"]
)


_PROGRAM_NAME = re.compile(r"[A-Za-z][\w.+-]{0,60}")
_PROGRAM_FOLDERS = (
    ".local/bin", ".cargo/bin", "go/bin", ".bun/bin", ".deno/bin", ".volta/bin", ".pyenv/shims", ".asdf/shims",
    ".rbenv/shims", ".local/share/mise/shims", ".local/share/pnpm", "Library/pnpm", ".nvm/versions/node/*/bin",
    ".local/share/fnm/node-versions/*/installation/bin", ".dotnet", ".poetry/bin", ".sdkman/candidates/java/current/bin",
    "flutter/bin", "/usr/local/go/bin", "/opt/homebrew/bin", "/home/linuxbrew/.linuxbrew/bin", "/usr/local/bin",
    "/usr/local/cargo/bin", "/opt/local/bin", "/snap/bin", "/usr/bin",
)  # fmt: skip
"""Folders in which installers put programs, below the home folder or absolute; `*` for a version."""
_MOST_VERSIONS = 3


def _version_of(name: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d{1,6}", name)]


class NameIndex(msgspec.Struct, frozen=True):
    """Files and folders of a project by their names, in lower case; paths are relative to it."""

    by_name: dict[str, tuple[str, ...]] = {}
    by_stem: dict[str, tuple[str, ...]] = {}


NO_NAMES = NameIndex()


def index_names(paths: Iterable[str]) -> NameIndex:
    """The index of some files, and of the folders that they are in."""
    names: defaultdict[str, dict[str, None]] = defaultdict(dict)
    stems: defaultdict[str, dict[str, None]] = defaultdict(dict)
    folders: set[str] = set()
    for path in paths:
        folder, _, name = path.rpartition("/")
        names[name.lower()][path] = None
        stems[os.path.splitext(name)[0].lower()][path] = None
        while folder and folder not in folders:
            folders.add(folder)
            names[folder.rpartition("/")[2].lower()][folder] = None
            folder = folder.rpartition("/")[0]
    return NameIndex(
        {name: tuple(found) for name, found in names.items()}, {stem: tuple(found) for stem, found in stems.items()}
    )


def list_names(root: str) -> NameIndex:
    """The index of the project in a folder; empty if it cannot be read. Slow."""
    if not root or not os.path.isdir(root):
        return NO_NAMES
    listed = ask_git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    paths: Iterable[str] = (path for path in listed.split("\0") if path) if listed else _walk(root)
    return index_names(islice(paths, _MOST_PATHS))


def _walk(root: str) -> Iterator[str]:
    for folder, folders, names in islice(os.walk(root), _MOST_FOLDERS):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED)
        below = os.path.relpath(folder, root)
        yield from (name if below == "." else f"{below}/{name}" for name in sorted(names))


class DiskFiles:
    """A project on this disk, until a moment after which nothing is looked at any more."""

    def __init__(
        self,
        root: str,
        names: NameIndex = NO_NAMES,
        seconds: float = SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.root = root
        self._names = names
        self._clock = clock
        self._until = clock() + seconds

    def _may_look(self, path: str) -> bool:
        return len(path) <= _LONGEST_PATH and "\0" not in path and self._clock() < self._until

    def kind(self, path: str) -> PathKind:
        if not self._may_look(path):
            return "unknown"
        try:
            return "folder" if stat.S_ISDIR(os.stat(path).st_mode) else "file"
        except (FileNotFoundError, NotADirectoryError):
            return "none" if os.path.isdir(self.root) and not os.path.lexists(path) else "unknown"
        except (OSError, ValueError):
            return "unknown"

    def find_dead_link(self, path: str) -> str:
        if not self._may_look(path):
            return ""
        try:
            target = os.path.normpath(os.path.join(os.path.dirname(path), os.readlink(path)))
        except (OSError, ValueError):  # no link
            return ""
        return "" if os.path.exists(path) or os.path.lexists(target) else target

    def names_in(self, folder: str) -> tuple[str, ...] | None:
        if not self._may_look(folder):
            return None
        names: list[str] = []
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if len(names) >= _MOST_NAMES or self._clock() >= self._until:
                        return None
                    names.append(entry.name)
        except (OSError, ValueError):
            return None
        return tuple(sorted(names))

    def find(self, name: str) -> tuple[str, ...]:
        return self._there(self._names.by_name.get(name.lower(), ()))

    def find_stem(self, stem: str) -> tuple[str, ...]:
        return self._there(self._names.by_stem.get(stem.lower(), ()))

    def _there(self, paths: Iterable[str]) -> tuple[str, ...]:
        """Those that are still there; nothing at all if time runs out, since a part of them would be another answer."""
        found: list[str] = []
        for path in paths:
            place = os.path.join(self.root, path)
            kind = self.kind(place)
            if kind == "unknown" and not self.find_dead_link(place):
                return ()
            if kind in ("file", "folder"):
                found.append(place)
        return tuple(found)

    def find_program(self, name: str) -> str:
        if not _PROGRAM_NAME.fullmatch(name):
            return ""
        home = os.path.expanduser("~")
        for folder in self._program_folders(home):
            path = os.path.join(folder, name)
            if self._may_look(path) and os.path.isfile(path) and os.access(path, os.X_OK):
                return f"~{path[len(home) :]}" if path.startswith(home + os.sep) else path
        return ""

    def _program_folders(self, home: str) -> Iterator[str]:
        """The folders of programs, those with versions in their names by the newest first."""
        for place in _PROGRAM_FOLDERS:
            before, versions, after = place.partition("*")
            folder = os.path.join(home, before) if not os.path.isabs(before) else before
            if not versions:
                yield folder
                continue
            for name in sorted(self.names_in(folder) or (), key=_version_of, reverse=True)[:_MOST_VERSIONS]:
                yield os.path.join(folder, name, after.lstrip("/"))

    def find_listener(self, port: int) -> Listener | None:
        return find_listener(port, lambda: self._clock() < self._until)

    def read_text(self, path: str) -> str | None:
        if not self._may_look(path):
            return None
        try:
            text = read_text(path, _LARGEST_TEXT, errors="replace")
        except (OSError, ValueError, PreheatError):
            return None
        return None if "\0" in text else text
