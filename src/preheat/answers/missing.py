"""Which file or folder was meant by a path at which there is nothing. Pure: asks `ProjectFiles`, writes no sentence.

In this order, and only what is sure: where the session moved it; the same path below another root or without a folder too many;
another ending or case at the same place; the same name elsewhere, the one that shares most folders; a folder or name of close
spelling on the way. Several equal ones are named together, three at most, those first that the session had to do with. A file of
tests is not meant by a path that is none, nor the other way round, nor a file of another package where the folder is there in
which one was looked for. What the session removed, or was about to write, it does not look for: of that nothing is meant.
"""

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from itertools import islice
from posixpath import basename, dirname, join, splitext

from preheat.answers.values import ProjectFiles, SessionFacts, is_below

MOST_NAMED = 3
_MOST_CANDIDATES = 60
_CLOSE = 0.8
"""How alike a folder's name must be, if the rest of the path then exists."""
_CLOSE_NAME = 0.85
_NEAR = 0.7
"""How alike a name must be to be named as one of the nearest, not as the one that was meant."""
_SAME_START = 3
_SHORT_NAME = 3
_COMMON = frozenset(
    ["index", "main", "mod", "lib", "__init__", "readme", "package", "types", "utils", "config", "test", "skill"]
)
"""Names that many folders have: the name alone says nothing."""
_TEST_FOLDERS = frozenset(["test", "tests", "__tests__", "spec", "specs", "e2e", "testdata", "fixtures"])
_TEST_NAME = re.compile(r"^test_|(?:[._-]|^)(?:test|spec|tests)(?:[._-]|$)|_test\.")
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
_COMMON_FOLDERS = _TEST_FOLDERS | frozenset(
    ["src", "lib", "docs", "doc", "examples", "scripts", "commands", "components", "utils", "types", "internal", "cmd", "pkg",
     "packages", "apps", "app", "config", "assets", "public", "api", "core", "common", "shared", "models", "services", "hooks",
     "pages", "views", "templates", "tools", "build", "bin", "data", "migrations", "features", "skills"]
)  # fmt: skip
"""Names of folders that stand in many places."""
_MOST_SIBLINGS = 400
_MANIFESTS = (
    "Cargo.toml",
    "package.json",
    "go.mod",
    "pyproject.toml",
    "pom.xml",
    "build.gradle",
    "Package.swift",
    "pubspec.yaml",
)
"""What stands in the folder of a package: each package has its own, and no other's is meant by it."""


def find_meant(path: str, files: ProjectFiles, folder: str, facts: SessionFacts | None = None) -> tuple[str, ...]:
    """The paths that may have been meant, the likeliest first; empty where nothing is sure."""
    facts = facts or SessionFacts()
    moved = facts.moves.get(path.removeprefix(files.root).strip("/"), "") if is_below(path, files.root) else ""
    if moved and files.kind(join(files.root, moved)) == "file":
        return (join(files.root, moved),)
    if is_own_doing(path, files, folder, facts):
        return ()
    if found := _below_other_root(path, files, folder) or _beside(path, files):
        return found
    if _is_common(basename(path)):
        return _close_spelling(path, files) or _same_name(path, files, facts)
    return _same_name(path, files, facts) or _other_ending(path, files, facts) or _close_spelling(path, files)


def is_own_doing(path: str, files: ProjectFiles, folder: str, facts: SessionFacts) -> bool:
    """Whether the session removed what was at a path, or tried to write it: that nothing is there is no mistake then."""
    return any(is_below(path, join(base, each)) for each in facts.absent for base in (files.root, folder) if base)


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part]


def _below_other_root(path: str, files: ProjectFiles, folder: str) -> tuple[str, ...]:
    """The same path below the project or below the folder: another root was meant, or a folder was named twice."""
    parts = _parts(path)
    bases = list(dict.fromkeys(base for base in (files.root, folder) if base))
    if _known_package(path, files):
        return ()
    for start in range(1, len(parts) - 1):
        found = [
            place
            for base in bases
            if (place := join(base, *parts[start:])) != path and files.kind(place) in ("file", "folder")
        ]
        if found:
            return tuple(dict.fromkeys(found))[:1]
    return ()


def _known_package(path: str, files: ProjectFiles) -> str:
    """The folder of the project, two deep, in which a file with a name that many folders have is looked for, if it is there: the
    same name below another folder is another file."""
    if not _is_common(basename(path)) or not is_below(path, files.root):
        return ""
    parts = _parts(path[len(files.root) :])
    place = join(files.root, *parts[:2])
    return place if len(parts) > 2 and parts.count(parts[0]) == 1 and files.kind(place) == "folder" else ""


def _same_name(path: str, files: ProjectFiles, facts: SessionFacts) -> tuple[str, ...]:
    """What has the name elsewhere, also what the session made that no list of the project has yet."""
    name = basename(path)
    if len(name) < _SHORT_NAME:
        return ()
    package = _known_package(path, files) or files.root
    own = [join(files.root, each) for each in reversed(facts.files) if basename(each) == name]
    listed = islice(files.find(name), _MOST_CANDIDATES)
    found = [
        each
        for each in dict.fromkeys((*listed, *(each for each in own if files.kind(each) == "file")))
        if each != path and is_test(each, files.root) == is_test(path, files.root) and is_below(each, package)
    ]
    is_folder = "." not in name.lstrip(".")
    if is_folder and len(found) > 1 and name.lower() in _COMMON_FOLDERS:
        return ()
    if name in _MANIFESTS:
        found = [each for each in found if basename(dirname(each)) == basename(dirname(path))]
    found = _of_its_package(path, found, files)
    return _most_alike(path, found, files.root, _is_common(name) or name.lower() in _COMMON_FOLDERS, facts)


def _of_its_package(path: str, found: list[str], files: ProjectFiles) -> list[str]:
    """Those of some paths that lie in the package in which a path was looked for, if its folder is there; else all of them. The
    only one in the project may be meant from another package too, if its name is not one of a single word, nor of a test."""
    if files.kind(dirname(path)) != "folder":
        return found
    own, name = _package_of(path, files), basename(path)
    is_telling = len(_WORD.findall(splitext(name)[0])) > 1 and not _is_test_name(name)
    return [each for each in found if _package_of(each, files) == own] or (
        found if len(found) == 1 and is_telling else []
    )


def _package_of(path: str, files: ProjectFiles) -> str:
    """The nearest folder above a path that has a manifest; the project's own if none has."""
    place = dirname(path)
    while is_below(place, files.root) and place != files.root:
        if any(files.kind(join(place, name)) == "file" for name in _MANIFESTS):
            return place
        place = dirname(place)
    return files.root


def is_test(path: str, root: str) -> bool:
    """Whether a path of a project is one of its tests."""
    parts = _parts(path.removeprefix(root).lower())
    return not _TEST_FOLDERS.isdisjoint(parts[:-1]) or bool(parts and _TEST_NAME.search(parts[-1]))


def _beside(path: str, files: ProjectFiles) -> tuple[str, ...]:
    """What stands at the same place under a name that differs in case, in its ending, or in a dot before it."""
    names = files.names_in(dirname(path))
    if names is None or len(names) > _MOST_SIBLINGS:
        return ()
    wanted = _bare(basename(path))
    found = [each for name in names if _bare(name) == wanted and (each := join(dirname(path), name)) != path]
    if not wanted or len(found) > MOST_NAMED:
        return ()
    return tuple(sorted(each for each in found if files.kind(each) in ("file", "folder")))


def _bare(name: str) -> str:
    return splitext(name.lower().lstrip("."))[0]


def _other_ending(path: str, files: ProjectFiles, facts: SessionFacts) -> tuple[str, ...]:
    stem = splitext(basename(path))[0]
    if len(stem) < _SHORT_NAME or stem.startswith("."):
        return ()
    found = [
        each
        for each in islice(files.find_stem(stem), _MOST_CANDIDATES)
        if basename(each) != basename(path) and is_test(each, files.root) == is_test(path, files.root)
    ]
    return _most_alike(path, _of_its_package(path, found, files), files.root, True, facts)


def _is_common(name: str) -> bool:
    return splitext(name)[0].lower() in _COMMON


def _most_alike(path: str, found: Sequence[str], root: str, needs_shared: bool, facts: SessionFacts) -> tuple[str, ...]:
    """Those that share most folders of the project with a path, if they are few, or few of them are known to the session."""
    if not found:
        return ()
    scores = {each: count_shared(path.removeprefix(root), each.removeprefix(root)) for each in found}
    best = max(scores.values())
    if needs_shared and not best:
        return ()
    chosen = sorted((each for each in found if scores[each] == best), key=lambda each: (len(_parts(each)), each))
    latest = {join(root, each): place for place, each in enumerate(facts.files)}
    known = sorted((each for each in chosen if each in latest), key=lambda each: -latest[each])
    if len(chosen) > MOST_NAMED:
        chosen = known
    ranked = (*known, *(each for each in chosen if each not in latest))
    return ranked if len(ranked) <= MOST_NAMED else ()


def count_shared(one: str, other: str) -> int:
    """How many folders two paths share by name, in this order, wherever they stand."""
    first, second = _parts(dirname(one)), _parts(dirname(other))
    common = 0
    while common < min(len(first), len(second)) and first[common] == second[common]:
        common += 1
    matcher = SequenceMatcher(None, first[common:], second[common:], autojunk=False)
    return common + sum(block.size for block in matcher.get_matching_blocks())


def _close_spelling(path: str, files: ProjectFiles) -> tuple[str, ...]:
    """The path with its first wrong part spelled as one that is there, if the rest then exists."""
    there = deepest_existing(path, files)
    if not there or not is_below(there, files.root):
        return ()
    rest = _parts(path[len(there) :])
    names = files.names_in(there)
    if not rest or names is None or len(names) > _MOST_SIBLINGS:
        return ()
    least = _CLOSE if len(rest) > 1 else _CLOSE_NAME
    close = [
        (ratio, name)
        for name in names
        if (ratio := _likeness(rest[0], name)) >= least
        and _is_test_name(name) == _is_test_name(rest[0])
        and not _has_words_more(rest[0], name)
    ]
    for _, name in sorted(close, key=lambda pair: (-pair[0], pair[1])):
        place = join(there, name, *rest[1:])
        if files.kind(place) in ("file", "folder"):
            return (place,)
    return ()


def _is_test_name(name: str) -> bool:
    return "." in name and _TEST_NAME.search(name.lower()) is not None


def _has_words_more(one: str, other: str) -> bool:
    """Whether one of two names is the other with words more: `publish-head.yml` is no misspelled `publish.yml`."""
    first, second = (set(_WORD.findall(name)) for name in (one, other))
    return first < second or second < first


def is_side_guess(path: str, meant: str) -> bool:
    """Whether a path ends in the name of a folder that many projects have, and what was meant stands beside it (`test` for
    `tests`): one of several that a search was given by guess."""
    return basename(path).lower() in _COMMON_FOLDERS and dirname(path) == dirname(meant)


def _likeness(one: str, other: str) -> float:
    first, second = one.lower(), other.lower()
    if first == second:
        return 1.0
    if first.startswith(".") != second.startswith(".") or _differ_by_number(first, second):
        return 0.0
    return SequenceMatcher(None, first, second, autojunk=False).ratio()


def _differ_by_number(one: str, other: str) -> bool:
    """Whether two names differ only in their numbers: `0042_add.sql` is not `0043_add.sql`."""
    bare = ["".join(letter for letter in name if not letter.isdigit()) for name in (one, other)]
    return bare[0] == bare[1]


def deepest_existing(path: str, files: ProjectFiles) -> str:
    """The deepest folder on the way to a path that is there; empty if that is not known."""
    place = dirname(path)
    while is_below(place, files.root):
        kind = files.kind(place)
        if kind == "folder":
            return place
        if kind != "none":
            return ""
        place = dirname(place)
    return ""


def nearest_known_folder(path: str, files: ProjectFiles) -> str:
    """The deepest folder on the way to a path that surely is there, also where something on the way is not known; empty if even
    the project's own is not known to be."""
    place = dirname(path)
    while is_below(place, files.root):
        if files.kind(place) == "folder":
            return place
        place = dirname(place)
    return ""


def nearest_names(path: str, folder: str, files: ProjectFiles) -> tuple[str, ...]:
    """The names in a folder that are spelled most like the part of a path that is missing there; none if none is alike, and none
    for a file of tests: another one stands beside it wherever there are tests."""
    names = files.names_in(folder)
    if names is None or len(names) > _MOST_SIBLINGS or _is_test_name(basename(path)):
        return ()
    wanted = _bare(_parts(path[len(folder) :])[0])
    alike = sorted(
        (-ratio, name)
        for name in names
        if join(folder, name) != path
        and not _is_test_name(name)
        and (ratio := SequenceMatcher(None, wanted, _bare(name), autojunk=False).ratio()) >= _NEAR
        and _bare(name)[:_SAME_START] == wanted[:_SAME_START]
        and not _differ_by_number(wanted, _bare(name))
    )
    return tuple(name for _, name in alike[:MOST_NAMED])


def list_folder(folder: str, files: ProjectFiles, most: int) -> tuple[str, ...]:
    """The names in a folder, if they are few."""
    names: Iterable[str] | None = files.names_in(folder)
    shown = sorted(name for name in names if not name.startswith(".")) if names is not None else []
    return tuple(shown) if 0 < len(shown) <= most else ()
