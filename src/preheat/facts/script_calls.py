"""The scripts of a project that a command runs by a runner: `make lint`, `pnpm --filter web test`, `turbo run build`. Pure."""

from collections.abc import Sequence
from posixpath import dirname, join, normpath
from typing import NamedTuple

from preheat.commands.words import name_set
from preheat.facts.packages import MOST_PACKAGES, Package

_TASK_RUNNERS = {"make": "make", "just": "just", "task": "task", "mise": "mise"}
_MANAGERS = name_set("npm pnpm yarn bun")
_OVER_ALL = name_set("turbo lerna nx")
_OWN = name_set(
    "exec x dlx create install i ci add why config init link pack publish up update store node audit version info"
)
"""Commands of package managers that run no script."""
_FILTERS = name_set("--filter -F -w --workspace --scope --filter-prod")
_PLACES = name_set("-C --dir --prefix --cwd --directory")
_VALUED = (
    _FILTERS
    | _PLACES
    | name_set("-j --jobs --concurrency --loglevel --reporter --workspace-concurrency --env-mode --cache --cache-dir")
)
_EVERY = name_set("-r --recursive --workspaces -ws --parallel")


class ScriptName(NamedTuple):
    """A script that a command names."""

    runner: str
    folder: str
    name: str


class ScriptCalls(NamedTuple):
    """The scripts that a command runs."""

    scripts: tuple[ScriptName, ...] = ()
    """None where they are not known."""
    areas: tuple[str, ...] | None = None
    """The folders of the packages in which they run; None where that is as the scripts themselves say."""


_UNKNOWN = ScriptCalls()


def is_call(words: Sequence[str]) -> bool:
    """Whether a command runs scripts of the project by their names."""
    program = words[0]
    if program in _MANAGERS:
        _, rest = _read_options(words[1:])
        return bool(rest) and rest[0] not in _OWN and (program, rest[0]) not in (("bun", "test"), ("bun", "build"))
    if program == "mise":
        return words[1:2] in (("run",), ("r",), ["run"], ["r"])
    return program in _TASK_RUNNERS or program in _OVER_ALL or program in ("run-s", "run-p", "npm-run-all")


def find_calls(words: Sequence[str], folder: str | None, packages: Sequence[Package]) -> ScriptCalls:
    """The scripts that a command runs which is typed in a folder."""
    program = words[0]
    options, rest = _read_options(words[1:])
    if folder is None:
        return _UNKNOWN
    for name, value in options:
        if name in _PLACES:
            folder = normpath(join(folder, value)).removeprefix(".")
    if program in _OVER_ALL:
        return _find_over_all(program, options, rest, packages)
    if program in _MANAGERS:
        return _find_of_manager(options, rest, folder, packages)
    if program in _TASK_RUNNERS:
        if any(name in ("-f", "--file", "--makefile", "-d") for name, _ in options):
            return _UNKNOWN
        names = _names_of_tasks(program, rest)
        return ScriptCalls(tuple(ScriptName(_TASK_RUNNERS[program], folder, each) for each in names))
    return ScriptCalls(tuple(ScriptName("node", folder, each) for each in rest))


def _names_of_tasks(program: str, rest: Sequence[str]) -> list[str]:
    if program == "mise":  # what follows a task are its arguments, up to the next one
        return [each for before, each in zip((":::", *rest[1:]), rest[1:], strict=False) if before == ":::"]
    return [each for each in rest if "=" not in each]


def _read_options(words: Sequence[str]) -> tuple[list[tuple[str, str]], list[str]]:
    """The options of a runner with their values, and its other words; what follows dashes is the script's own."""
    options: list[tuple[str, str]] = []
    rest: list[str] = []
    after = ""
    for word in words:
        if after:
            options.append((after, word))
            after = ""
        elif word == "--":
            break
        elif word.startswith("-"):
            name, equals, value = word.partition("=")
            if name in _VALUED and not equals:
                after = name
            else:
                options.append((name, value))
        else:
            rest.append(word)
    return options, rest


def _find_of_manager(
    options: Sequence[tuple[str, str]], rest: list[str], folder: str, packages: Sequence[Package]
) -> ScriptCalls:
    filters = [value for name, value in options if name in _FILTERS]
    is_every = any(name in _EVERY for name, _ in options)
    if rest[:2] == ["workspaces", "foreach"] or rest[:1] == ["workspaces"]:
        is_every, rest = True, rest[1 + (rest[1:2] == ["foreach"]) :]
    elif rest[:1] == ["workspace"]:
        filters, rest = rest[1:2], rest[2:]
    names = rest[1:2] if rest[:1] in (["run"], ["run-script"]) else rest[:1]
    if not filters and not is_every:
        return ScriptCalls(tuple(ScriptName("node", folder, each) for each in names))
    return _find_in_packages(names, filters, packages)


def _find_over_all(
    program: str, options: Sequence[tuple[str, str]], rest: Sequence[str], packages: Sequence[Package]
) -> ScriptCalls:
    if program == "nx" or not rest:
        return _UNKNOWN
    names = rest[1:] if rest[0] in ("run", "run-many", "run-script") else rest
    return _find_in_packages(names, [value for name, value in options if name in _FILTERS], packages)


def _find_in_packages(names: Sequence[str], filters: Sequence[str], packages: Sequence[Package]) -> ScriptCalls:
    """The scripts of these names in the packages of a workspace that filters choose; in all of them where there is none."""
    members = [each for each in packages if each.folder and each.is_member]
    chosen = [find_package(each, members) for each in filters] if filters and "*" not in filters else members
    having = [each for each in chosen if each is not None and any(script.name in names for script in each.scripts)]
    if not having or None in chosen or (not filters and len(packages) >= MOST_PACKAGES):
        return _UNKNOWN
    scripts = (
        ScriptName("node", each.folder, script.name)
        for each in having
        for script in each.scripts
        if script.name in names
    )
    folders = [each.folder for each in having]
    return ScriptCalls(tuple(scripts), tuple(folders if filters else _with_new_ones(folders, members)))


def _with_new_ones(folders: Sequence[str], members: Sequence[Package]) -> set[str]:
    """The folders of packages, one around several for them all if it holds no other: a new package will lie there too."""
    others = {dirname(each.folder) for each in members if each.folder not in folders} | {""}
    return {dirname(each) if dirname(each) not in others else each for each in folders}


def find_package(name: str, packages: Sequence[Package]) -> Package | None:
    """The package that a filter names, by its name, the end of that, or its folder."""
    members = [each for each in packages if each.folder and each.is_member]
    folder = name.removeprefix("./").removesuffix("/")
    named = [each for each in members if each.name == name] or [each for each in members if each.folder == folder]
    if named:
        return named[0]
    found = [each for each in members if each.name.endswith(f"/{name}")]
    return found[0] if len(found) == 1 else None
