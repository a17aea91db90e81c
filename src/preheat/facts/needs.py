"""What commands need to find their project: the folder of its manifest, the package manager of its lock file. Pure."""

import re
from posixpath import basename, dirname

from preheat.facts.packages import find_locks, find_runner
from preheat.facts.values import ProjectTree, make_fact
from preheat.model.lesson import Lesson

_MANIFESTS = {
    "cargo": ("Cargo.toml",),
    "go": ("go.mod", "go.work"),
    "npm": ("package.json",),
    "pnpm": ("package.json",),
    "yarn": ("package.json",),
    "bun": ("package.json",),
    "mvn": ("pom.xml",),
    "./gradlew": ("gradlew",),
    "mix": ("mix.exs",),
    "bundle": ("Gemfile",),
    "composer": ("composer.json",),
    "flutter": ("pubspec.yaml",),
    "dart": ("pubspec.yaml",),
    "swift": ("Package.swift",),
    "make": ("Makefile", "makefile", "GNUmakefile"),
    "poetry": ("pyproject.toml",),
    "pod": ("Podfile",),
}
_MOST_DEEP, _MOST_FOLDERS = 3, 3
_SELDOM = 0.1
"""The reach of what is said only before a call that needs it."""
_OTHERS = (
    "node_modules/",
    "vendor/",
    "third_party/",
    "test/",
    "tests/",
    "fixtures/",
    "examples/",
    "testdata/",
    "template",
)


def learn_needs(tree: ProjectTree) -> list[Lesson]:
    """Facts on folders that commands must be run in, and on the package manager."""
    return [*_folders(tree), *_xcode_folder(tree), *_runner(tree)]


def _folders(tree: ProjectTree) -> list[Lesson]:
    names = {name for each in _MANIFESTS.values() for name in each}
    places: dict[str, list[str]] = {}
    for path in tree.find(*names, deepest=_MOST_DEEP):
        if not any(each in path for each in _OTHERS):
            places.setdefault(basename(path), []).append(dirname(path))
    found = []
    for program, manifests in _MANIFESTS.items():
        folders = list(dict.fromkeys(folder for name in manifests for folder in places.get(name, ())))
        if folders and "" not in folders and len(folders) <= _MOST_FOLDERS and _is_likely(program, tree, folders[0]):
            found.append(_folder_fact(tree, program, folders, manifests[0]))
    return found


def _folder_fact(tree: ProjectTree, program: str, folders: list[str], file: str) -> Lesson:
    listed = ", ".join(f"`{folder}/`" for folder in folders)
    return make_fact(
        tree, "folder", (program, *folders), f"`{program}` runs in {listed}: there is the `{file}`.",
        reach=_SELDOM, files=tuple(folders),
        details={"about": "folder", "program": program, "folders": ",".join(folders), "file": file},
    )  # fmt: skip


def _xcode_folder(tree: ProjectTree) -> list[Lesson]:
    """Where `xcodebuild` finds its project, whose manifest is a folder itself: below the project's own, and in one place only."""
    likely = (path for path in tree.paths if ".xc" in path and not _FETCHED.search(path))
    found = {match["path"] for path in likely if (match := _XCODE.match(path))}
    folders = {dirname(path) for path in found}
    if len(folders) != 1 or "" in folders:
        return []
    return [_folder_fact(tree, "xcodebuild", list(folders), basename(min(found)))]


_XCODE = re.compile(r"(?P<path>(?:[^/]+(?<!\.xcodeproj)/){0,2}[\w.-]+\.(?:xcodeproj|xcworkspace))/")
_FETCHED = re.compile(r"(?:^|/)(?:Pods|node_modules|build)/")


def _is_likely(program: str, tree: ProjectTree, folder: str) -> bool:
    """Of the package managers of one manifest, the one of the lock file."""
    return "package.json" not in _MANIFESTS[program] or find_runner(tree, folder) == program


def _runner(tree: ProjectTree) -> list[Lesson]:
    locks = find_locks(tree, "")
    runner = find_runner(tree, "")
    if len(locks) != 1 or not runner or "package.json" not in tree.paths:
        return []
    return [
        make_fact(
            tree, "runner", (runner,), f"The package manager is `{runner}` (`{locks[0]}`).", reach=_SELDOM,
            files=(locks[0],), details={"about": "runner", "name": runner, "file": locks[0]},
        )
    ]  # fmt: skip
