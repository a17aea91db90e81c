"""What a check covers: the files of a project whose work it proves when it passes. Knows one command and one path, no session.

A check that names nothing covers everything its program can check; one that names a folder, a file or a package covers what
lies there, and the module that such tests belong to. A program of one language says nothing of another.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from posixpath import normpath
from typing import NamedTuple

from preheat.commands import CHECKS, Command, understand
from preheat.live.places import belongs, place
from preheat.model.live import Called

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
_PACKAGED = frozenset(
    ["npm", "pnpm", "yarn", "bun", "turbo", "nx", "lerna", "cargo", "tsc", "tsgo", "vitest", "dotnet"]
)
"""Programs that have a part of a project named by such an option."""
_PACKAGE = re.compile(r"@?[\w.-]+(?:/[\w.-]+)*")
_VALUED = frozenset(
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
"""Options whose value is no path that is checked."""
_ALL_TESTS = frozenset(["tests", "test", "spec", "specs", "e2e"])
_PATH = re.compile(r"\.{1,2}|\.?[\w@.+*-]+(?:/[\w@.+*-]*)+|[\w@.+-]+\.\w{1,5}")
_ENTERED = frozenset(["cd", "pushd", "set-location"])
_ELSEWHERE = "//"
"""A folder outside of the project."""


class Reach(NamedTuple):
    """What one check command can see."""

    endings: frozenset[str]
    """Of the files of its language; none: of any."""
    folder: str
    """Where it runs, which is all it sees if it names nothing; empty: the project."""
    paths: tuple[str, ...]
    packages: tuple[str, ...]


def covers(event: Called, path: str) -> bool:
    """Whether a check says something of a file."""
    found = _reaches(event.summary) if event.kind == "shell" else ()
    if not found:  # a tool of its own: what it was given, or all
        return not event.files or path in event.files
    return any(_within(reach, path) for reach in found)


@lru_cache(maxsize=4096)
def about(command: str) -> str:
    """What a check names, as a text that is equal for the same; empty where it checks all there is."""
    named = [" ".join((*reach.paths, *reach.packages)) or reach.folder for reach in _reaches(command)]
    return "|".join(sorted(set(named))) if all(named) else ""


@lru_cache(maxsize=4096)
def _reaches(command: str) -> tuple[Reach, ...]:
    return tuple(_each(command))


def _each(command: str) -> Iterator[Reach]:
    folder = ""
    for each in understand(command).commands:
        if each.program in _ENTERED:
            folder = _plain(each.words[1] if len(each.words) > 1 else "", folder)
        elif each.purpose in CHECKS:
            yield _reach(each, folder)


def _reach(command: Command, folder: str) -> Reach:
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
            folder = _plain((value or next(words, "")).removesuffix("Cargo.toml"), folder)
        elif option in _PACKAGE_OPTIONS and program in _PACKAGED:
            value = (value or next(words, "")).strip("./*{}")
            if value.endswith((".json", "proj")):
                folder = _plain(value.rpartition("/")[0], folder)
            elif _PACKAGE.fullmatch(value):
                packages.append(value.rpartition("/")[2])
        elif option in _VALUED and not value:
            next(words, "")
        elif not word.startswith("-") and _PATH.fullmatch(word.partition("::")[0]):
            paths.append(word.partition("::")[0])
    named = tuple(dict.fromkeys(_plain(path, folder) for path in paths if not path.startswith("/")))
    return Reach(endings, folder, () if "" in named else named, tuple(filter(None, packages)))


def _plain(path: str, folder: str) -> str:
    """A path from the project; empty for all of it, and where it cannot be told."""
    if path.startswith("$"):
        return ""
    path = path.partition("*")[0].removesuffix("...")
    if path.startswith(("/", "~")) or folder == _ELSEWHERE:
        return _ELSEWHERE
    path = normpath(f"{folder or '.'}/{path}")
    if path.startswith(".."):
        return _ELSEWHERE
    return "" if path == "." or path in _ALL_TESTS else path


def _within(reach: Reach, path: str) -> bool:
    if reach.endings and path.rpartition(".")[2].lower() not in reach.endings:
        return False
    if reach.packages:
        return any(f"/{package}/" in f"/{path}" for package in reach.packages)
    if reach.paths:
        return any(_named(path, named) for named in reach.paths)
    return not reach.folder or path.startswith(f"{reach.folder}/")


def _named(path: str, named: str) -> bool:
    if path == named or path.startswith(f"{named}/"):
        return True
    tested = place(named if "." in named.rpartition("/")[2] else f"{named}/_")
    mine = place(path)
    if tested is None or mine is None or not tested.is_test:
        return False
    if tested.tested:  # tests that lie in no module's folder go by the name of what they test
        return path.rpartition("/")[2].partition(".")[0].lower() == tested.tested
    return bool(mine.subsystem) and belongs(tested, (mine.subsystem,)) == mine.subsystem
