"""How the program of a project is run, where no script says so: by the manifest of its language or framework. Pure."""

import re
from collections.abc import Callable, Iterable
from posixpath import dirname
from typing import Any, NamedTuple

from preheat.facts.native_tools import is_flutter
from preheat.facts.values import ProjectTree, in_folder
from preheat.manifests.scripts import read_toml

_EXECUTABLE = re.compile(r"\.executable(?:Target)?\(\s*name:\s*\"(?P<name>[\w-]{1,40})\"")
_NAME = re.compile(r"[A-Za-z][\w.-]{0,40}")
_STARTERS = {"uv.lock": "uv run ", "poetry.lock": "poetry run ", "pdm.lock": "pdm run "}
_SITES = (
    ("mkdocs.yml", "mkdocs serve", "8000"), ("hugo.toml", "hugo server", "1313"), ("hugo.yaml", "hugo server", "1313"),
)  # fmt: skip
"""Files of programs that serve documents, and their port."""
_MOST = 4


class Program(NamedTuple):
    """A command that runs the project itself."""

    command: str
    file: str
    port: str = ""
    name: str = ""
    """What the program is called once it is installed; empty where that is not known."""


def find_programs(tree: ProjectTree) -> list[Program]:
    """The programs of a tree, as typed from its own folder."""
    found: list[Program] = []
    for find in _FINDERS:
        found += list(find(tree))[:_MOST]
    return found


def _go(tree: ProjectTree) -> Iterable[Program]:
    """The programs of the module in the project's own folder; without one those of the only module below it."""
    modules = [dirname(path) for path in tree.find("go.mod", deepest=_MOST_DEEP) if not _OTHERS.search(path)]
    if not modules or ("" not in modules and len(modules) > 1):
        return
    folder = "" if "" in modules else modules[0]
    prefix = f"{folder}/" if folder else ""
    if f"{prefix}main.go" in tree.paths:
        yield Program(in_folder(folder, "go run ."), f"{prefix}main.go")
    pattern = re.compile(rf"{re.escape(prefix)}(?P<place>cmd/(?P<name>[\w.-]+))/main\.go")
    mains = sorted(
        {found["place"]: found["name"] for path in tree.find("main.go") if (found := pattern.fullmatch(path))}.items()
    )
    for place, name in mains[:3]:
        yield Program(in_folder(folder, f"go run ./{place}"), f"{prefix}{place}", name=name)


_MOST_DEEP = 2
_OTHERS = re.compile(r"(?:^|/)(?:vendor|third_party|tests?|fixtures?|examples?|testdata|tools|\.\w[^/]*)/")
"""Folders of modules that are not the project."""


def _cargo(tree: ProjectTree) -> Iterable[Program]:
    """The programs of Cargo's packages; those of a workspace are run from its root."""
    root = read_toml(tree.texts.get("Cargo.toml", ""))
    is_workspace = isinstance(root, dict) and "workspace" in root
    for manifest in tree.find("Cargo.toml"):
        folder, document = dirname(manifest), read_toml(tree.texts.get(manifest, ""))
        package = document.get("package") if isinstance(document, dict) else None
        name = package.get("name") if isinstance(package, dict) else ""
        if not isinstance(package, dict) or not isinstance(name, str) or not _NAME.fullmatch(name):
            continue
        names = _cargo_programs(tree, folder, document, name)
        start = f"cargo run -p {name}" if folder and is_workspace else in_folder(folder, "cargo run")
        if len(names) == 1 or (names and package.get("default-run")):
            yield Program(start, manifest, name=names[0] if len(names) == 1 else "")
        else:
            yield from (Program(f"{start} --bin {each}", manifest, name=each) for each in names[:3])


def _cargo_programs(tree: ProjectTree, folder: str, document: Any, name: str) -> list[str]:
    """The names of the programs that a package of Cargo builds."""
    prefix = f"{folder}/" if folder else ""
    tables = document.get("bin")
    stated = [each for each in tables if isinstance(each, dict)] if isinstance(tables, list) else []
    names = [each["name"] for each in stated if isinstance(each.get("name"), str) and _NAME.fullmatch(each["name"])]
    if f"{prefix}src/main.rs" in tree.paths and not any(each.get("path") == "src/main.rs" for each in stated):
        names.append(name)
    lying = re.compile(rf"{re.escape(prefix)}src/bin/(?P<name>[\w-]+)(?:\.rs|/main\.rs)")
    names += [found["name"] for path in sorted(tree.paths) if (found := lying.fullmatch(path))]
    return list(dict.fromkeys(names))


def find_python_starter(tree: ProjectTree, folder: str) -> str:
    """What starts a program in the environment of a Python project, by its lock file; empty where none says it."""
    prefix = f"{folder}/" if folder else ""
    return next((starter for lock, starter in _STARTERS.items() if f"{prefix}{lock}" in tree.paths), "")


def _python(tree: ProjectTree) -> Iterable[Program]:
    """The commands that a Python project installs, where a lock file says how they are started."""
    for path in tree.find("pyproject.toml", deepest=1):
        folder, document = dirname(path), read_toml(tree.texts.get(path, ""))
        project = document.get("project") if isinstance(document, dict) else None
        scripts = project.get("scripts") if isinstance(project, dict) else None
        starter = find_python_starter(tree, folder)
        for name in list(scripts)[:2] if isinstance(scripts, dict) and starter else ():
            if isinstance(name, str) and _NAME.fullmatch(name):
                yield Program(in_folder(folder, f"{starter}{name}"), path, name=name)


def _frameworks(tree: ProjectTree) -> Iterable[Program]:
    """Servers of frameworks, with the port that they have by themselves."""
    for path in tree.find("manage.py")[:1]:
        yield Program(in_folder(dirname(path), "python manage.py runserver"), path, "8000")
    if "bin/rails" in tree.paths:
        yield Program("bin/rails server", "bin/rails", "3000")
    if "artisan" in tree.paths:
        yield Program("php artisan serve", "artisan", "8000")
    for file, command, port in _SITES:
        for path in tree.find(file, deepest=1)[:1]:
            yield Program(in_folder(dirname(path), command), path, port)
    for path in tree.find("wrangler.toml", "wrangler.json", "wrangler.jsonc"):
        if "pages_build_output_dir" not in tree.texts.get(path, ""):  # pages are served by more words than a slot takes
            yield Program(in_folder(dirname(path), "npx wrangler dev"), path, "8787")


def _apps(tree: ProjectTree) -> Iterable[Program]:
    for path in tree.find("pubspec.yaml")[:2]:
        if is_flutter(tree.texts.get(path, "")) and f"{dirname(path)}/lib/main.dart".lstrip("/") in tree.paths:
            yield Program(in_folder(dirname(path), "flutter run"), path)
    for path in tree.find("Package.swift", deepest=1):
        for name in list(dict.fromkeys(_EXECUTABLE.findall(tree.texts.get(path, ""))))[:2]:
            yield Program(in_folder(dirname(path), f"swift run {name}"), path)
    for path in tree.find("Program.cs", deepest=2):
        folder = dirname(path)
        if any(name.endswith(".csproj") for name in tree.names_in(folder)):
            yield Program(f"dotnet run --project {folder}" if folder else "dotnet run", path)


_FINDERS: tuple[Callable[[ProjectTree], Iterable[Program]], ...] = (_go, _cargo, _python, _frameworks, _apps)
_TEXTS = frozenset(["wrangler.toml", "wrangler.json", "wrangler.jsonc"])


def has_program_text(path: str) -> bool:
    """Whether a file is read for the programs that it names."""
    return path.rpartition("/")[2] in _TEXTS and path.count("/") <= 3
