"""The files of a project: the subsystem that each belongs to, and the files that a check command covers.

A subsystem is the folder of a module, without the folders that every project has (`src`, `internal`, …); tests belong to the
module they test. A check that names no path covers every file of its language, one that names paths or packages covers these.
Knows paths and commands; no session and no disk.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from posixpath import normpath
from typing import NamedTuple

from preheat.commands import CHECKS, Command, understand
from preheat.model.live import CallEvent, PromptEvent

# The subsystem of a project that a file belongs to, and the words in its path.
_GENERIC_FOLDERS = frozenset(
    ["src", "lib", "libs", "app", "apps", "main", "java", "kotlin", "scala", "python", "internal", "pkg", "cmd", "source",
     "sources", "packages", "crates", "modules"]
)  # fmt: skip
_TESTS = re.compile(r"(?i)_*(?:\w+[_-])?(?:tests?|specs?|testing|testdata|e2e|fixtures|mocks?|snapshots?)_*")
_TEST_NAME = re.compile(
    r"(?i)^(?:tests?[_-])(?P<after>[\w-]+?)\.\w+$|^(?P<before>[\w-]+?)(?:[._-](?:tests?|spec))+\.\w+$"
)
_SUPPORTING = re.compile(
    r"(?i)\.(?:mdx?|rst|txt|adoc|json[5cl]?|ya?ml|toml|lock|cfg|ini|conf|env|xml|svg|png|jpe?g|gif|ico|csv|tsv|snap|sum|mod)$"
)
"""Documents, settings and data belong to no subsystem."""
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_COMMON = frozenset(
    ["test", "tests", "spec", "index", "main", "init", "mod", "file", "files", "code", "util", "utils", "helper", "helpers",
     "common", "base", "core", "types", "type", "impl", "py", "ts", "tsx", "js", "jsx", "go", "rs", "java", "rb", "cs", "cpp"]
)  # fmt: skip
"""Words in so many paths that sharing them means nothing."""
_AGREEING = frozenset(
    ["yes", "okay", "please", "continue", "proceed", "next", "one", "again", "now", "good", "great", "nice", "thanks", "keep",
     "going", "ahead", "step", "steps", "done", "sure", "perfect", "resume", "right", "same", "try", "sounds", "looks", "let"]
)  # fmt: skip
"""Words of a prompt that only agrees."""
_LONGEST = 120
_WORDS_NEEDED = 3


class FileLocation(NamedTuple):
    subsystem: str
    is_test: bool
    tested: str
    """For a test in no module's folder: the name of the file that it tests."""


@lru_cache(maxsize=8192)
def locate_file(path: str) -> FileLocation | None:
    """The location of a file; None for documents, settings and data."""
    *folders, name = path[-400:].split("/")
    if not folders or folders[0].startswith(".") or _SUPPORTING.search(name):
        return None
    kept = [folder for folder in folders if folder not in _GENERIC_FOLDERS and not _TESTS.fullmatch(folder)]
    named = _TEST_NAME.match(name)
    is_test = named is not None or any(_TESTS.fullmatch(folder) for folder in folders)
    if kept or not is_test:
        return FileLocation(("/".join(kept) or ".")[-_LONGEST:], is_test, "")
    return FileLocation("", True, (named["after"] or named["before"]).lower()[:_LONGEST] if named else "")


def subsystem_of(location: FileLocation, known: tuple[str, ...]) -> str:
    """The subsystem of a file, given those worked in; empty for a test that could belong to any.

    A test belongs to a known subsystem that ends with its path: test folders are often less deep.
    """
    subsystem, is_test, tested = location
    if not is_test or subsystem in known:
        return subsystem
    ending = f"/{subsystem or tested}"
    for other in known:
        if other.endswith(ending) or f"/{other}" == ending:
            return other
    return subsystem


@lru_cache(maxsize=8192)
def path_words(path: str) -> frozenset[str]:
    """The words in a path, in lower case, without those that most paths have."""
    return frozenset(word.lower() for word in _WORD.findall(path[-400:]) if len(word) > 2) - _COMMON - _GENERIC_FOLDERS


def is_supporting_file(path: str) -> bool:
    """Whether a file is a document, settings or data."""
    return _SUPPORTING.search(path) is not None


def states_a_goal(prompt: PromptEvent) -> bool:
    """Whether a prompt states a goal: `go on` does not."""
    if prompt.files:
        return True
    telling = 0
    for word in prompt.words:
        if word not in _COMMON and word not in _AGREEING:
            telling += 1
            if telling >= _WORDS_NEEDED:
                return True
    return False


def shorten_path(path: str, most: int = 40) -> str:
    """A path cut to its end, which begins with a whole name."""
    if len(path) <= most:
        return path
    cut = path[-most:]
    return f"…/{cut.partition('/')[2]}" if "/" in cut else cut


# Which files of a project a check command covers.
_LANGUAGES: tuple[tuple[frozenset[str], frozenset[str]], ...] = tuple(
    (frozenset(programs.split()), frozenset(endings.split()))
    for programs, endings in (
        ("go gotestsum golangci-lint staticcheck", "go"),
        ("cargo rustc", "rs"),
        ("pytest py.test python python3 tox nox ruff mypy pyright basedpyright flake8 pylint unittest", "py pyi"),
        (
            "npm npx pnpm yarn bun deno node jest vitest mocha ava tsc tsgo eslint biome oxlint playwright cypress next vite"
            " webpack turbo nx lerna",
            "ts tsx js jsx mjs cjs mts cts vue svelte astro",
        ),
        ("mvn mvnw gradle gradlew javac", "java kt kts scala groovy"),
        ("dotnet msbuild", "cs fs vb razor"),
        ("rspec rake rubocop bundle", "rb"),
        ("phpunit phpstan psalm composer", "php"),
        ("mix", "ex exs"),
        ("flutter dart", "dart"),
        ("swift xcodebuild", "swift m mm h"),
        ("shellcheck bats", "sh bash"),
    )
)
_INTERPRETERS = frozenset(["python", "python3", "node", "bash", "sh", "ruby", "php", "perl", "deno", "bun", "tsx"])
_FOLDER_OPTIONS = frozenset(["-C", "--prefix", "--cwd", "--dir", "--directory", "--manifest-path", "--rootdir"])
_PACKAGE_OPTIONS = frozenset(
    ["--filter", "-F", "-p", "--package", "--workspace", "-w", "--project", "--scope", "--projects"]
)
_PACKAGE_PROGRAMS = frozenset(
    ["npm", "pnpm", "yarn", "bun", "turbo", "nx", "lerna", "cargo", "tsc", "tsgo", "vitest", "dotnet"]
)
"""Programs that take a package of the project by one of `_PACKAGE_OPTIONS`."""
_PACKAGE = re.compile(r"@?[\w.-]+(?:/[\w.-]+)*")
_VALUE_OPTIONS = frozenset(
    [
        "-run",
        "-k",
        "-m",
        "-t",
        "-o",
        "-c",
        "--config",
        "-f",
        "--features",
        "--grep",
        "-g",
        "-n",
        "--reporter",
        "-tags",
        "-p",
    ]
)
"""Options whose value is no path to check."""
_ALL_TESTS = frozenset(["tests", "test", "spec", "specs", "e2e"])
_PATH = re.compile(r"\.{1,2}|\.?[\w@.+*-]+(?:/[\w@.+*-]*)+|[\w@.+-]+\.\w{1,5}")
_CHANGE_FOLDER = frozenset(["cd", "pushd", "set-location"])
_OUTSIDE = "//"
"""A folder outside of the project."""


class CheckScope(NamedTuple):
    """The files that one check command covers."""

    endings: frozenset[str]
    """File endings of its language; empty: any."""
    folder: str
    """The folder it runs in, which is all it covers if it names nothing; empty: the project."""
    paths: tuple[str, ...]
    packages: tuple[str, ...]


def covers(event: CallEvent, path: str) -> bool:
    """Whether a check covers a file."""
    scopes = _scopes(event.summary) if event.kind == "shell" else ()
    if not scopes:  # a tool, no command: the files it was given, or all
        return not event.files or path in event.files
    return any(_is_in_scope(scope, path) for scope in scopes)


@lru_cache(maxsize=4096)
def describe_scope(command: str) -> str:
    """The paths and packages that a check names, as one comparable text; empty where it checks everything."""
    named = [" ".join((*scope.paths, *scope.packages)) or scope.folder for scope in _scopes(command)]
    return "|".join(sorted(set(named))) if all(named) else ""


@lru_cache(maxsize=4096)
def _scopes(command: str) -> tuple[CheckScope, ...]:
    return tuple(_parse_scopes(command))


def _parse_scopes(command: str) -> Iterator[CheckScope]:
    folder = ""
    for each in understand(command).commands:
        if each.program in _CHANGE_FOLDER:
            folder = _project_path(each.words[1] if len(each.words) > 1 else "", folder)
        elif each.purpose in CHECKS:
            yield _scope(each, folder)


def _scope(command: Command, folder: str) -> CheckScope:
    program = command.program.lower()
    endings = next((endings for programs, endings in _LANGUAGES if program in programs), frozenset[str]())
    paths: list[str] = []
    packages: list[str] = []
    words = iter(command.words[1:])
    if program in _INTERPRETERS and command.words[1:2] != ("-m",):
        next(words, "")  # the script that checks
    for word in words:
        option, _, value = word.partition("=")
        if option in _FOLDER_OPTIONS:
            folder = _project_path((value or next(words, "")).removesuffix("Cargo.toml"), folder)
        elif option in _PACKAGE_OPTIONS and program in _PACKAGE_PROGRAMS:
            value = (value or next(words, "")).strip("./*{}")
            if value.endswith((".json", "proj")):
                folder = _project_path(value.rpartition("/")[0], folder)
            elif _PACKAGE.fullmatch(value):
                packages.append(value.rpartition("/")[2])
        elif option in _VALUE_OPTIONS and not value:
            next(words, "")
        elif not word.startswith("-") and _PATH.fullmatch(word.partition("::")[0]):
            paths.append(word.partition("::")[0])
    named = tuple(dict.fromkeys(_project_path(path, folder) for path in paths if not path.startswith("/")))
    return CheckScope(endings, folder, () if "" in named else named, tuple(filter(None, packages)))


def _project_path(path: str, folder: str) -> str:
    """A path relative to the project; empty for the whole project, and where it is not known."""
    if path.startswith("$"):
        return ""
    path = path.partition("*")[0].removesuffix("...")
    if path.startswith(("/", "~")) or folder == _OUTSIDE:
        return _OUTSIDE
    path = normpath(f"{folder or '.'}/{path}")
    if path.startswith(".."):
        return _OUTSIDE
    return "" if path == "." or path in _ALL_TESTS else path


def _is_in_scope(scope: CheckScope, path: str) -> bool:
    if scope.endings and path.rpartition(".")[2].lower() not in scope.endings:
        return False
    if scope.packages:
        return any(f"/{package}/" in f"/{path}" for package in scope.packages)
    if scope.paths:
        return any(_names_path(path, named) for named in scope.paths)
    return not scope.folder or path.startswith(f"{scope.folder}/")


def _names_path(path: str, named: str) -> bool:
    if path == named or path.startswith(f"{named}/"):
        return True
    test_location = locate_file(named if "." in named.rpartition("/")[2] else f"{named}/_")
    location = locate_file(path)
    if test_location is None or location is None or not test_location.is_test:
        return False
    if test_location.tested:  # a test in no module's folder tests the file of its name
        return path.rpartition("/")[2].partition(".")[0].lower() == test_location.tested
    return bool(location.subsystem) and subsystem_of(test_location, (location.subsystem,)) == location.subsystem
