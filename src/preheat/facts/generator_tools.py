"""Generators that a project has without a script for them: by the packages that it uses and the files that they read. Pure."""

import re
from collections.abc import Callable, Iterable
from posixpath import basename, dirname
from typing import NamedTuple

from preheat.facts.packages import Package, start_program
from preheat.facts.programs import find_python_starter
from preheat.facts.values import ProjectTree
from preheat.manifests.scripts import read_json


class Generator(NamedTuple):
    """A command that writes files of the project, and where it is typed."""

    command: str
    folder: str
    file: str
    """The file that it is known by."""


_NODE = (
    ("prisma", ("schema.prisma",), "prisma generate"),
    ("@graphql-codegen/cli", ("codegen.ts", "codegen.yml", "codegen.yaml"), "graphql-codegen"),
    ("drizzle-kit", ("drizzle.config.ts", "drizzle.config.js"), "drizzle-kit generate"),
    ("@hey-api/openapi-ts", ("openapi-ts.config.ts",), "openapi-ts"),
    ("orval", ("orval.config.ts", "orval.config.js"), "orval"),
)
"""Packages, the files that they read, and what is run."""
_BY_FILE = {
    "sqlc.yaml": "sqlc generate",
    "sqlc.yml": "sqlc generate",
    "buf.gen.yaml": "buf generate",
    "swiftgen.yml": "swiftgen",
}
_DEEPEST = 3
_BUILD_RUNNER = re.compile(r"^\s+build_runner:", re.MULTILINE)
_TEXTS_OF_FLUTTER = re.compile(r"^\s+generate:\s*true\b", re.MULTILINE)


def find_generators(tree: ProjectTree, packages: Iterable[Package]) -> list[Generator]:
    """The generators of a tree, those of its packages first."""
    found = [each for package in packages for each in _node_generators(tree, package)]
    for find in _FINDERS:
        found += find(tree)
    return list(dict.fromkeys(found))


def _node_generators(tree: ProjectTree, package: Package) -> Iterable[Generator]:
    prefix = f"{package.folder}/" if package.folder else ""
    document = read_json(tree.texts.get(f"{prefix}package.json", ""))
    if not isinstance(document, dict) or not package.runner:
        return
    tables = (document.get(name) for name in ("dependencies", "devDependencies"))
    used = {name for table in tables if isinstance(table, dict) for name in table}
    for name, files, command in _NODE:
        file = next((path for path in tree.find(*files, deepest=_DEEPEST + 1) if path.startswith(prefix)), "")
        if name in used and file:
            yield Generator(start_program(package.runner, command), package.folder, file)


def _by_file(tree: ProjectTree) -> Iterable[Generator]:
    for path in tree.find(*_BY_FILE, deepest=_DEEPEST):
        yield Generator(_BY_FILE[basename(path)], dirname(path), path)


def _dart(tree: ProjectTree) -> Iterable[Generator]:
    """What writes the code of a Dart or Flutter project, by its manifest."""
    for path in tree.find("pubspec.yaml")[:2]:
        text, folder = tree.texts.get(path, ""), dirname(path)
        if _BUILD_RUNNER.search(text):
            yield Generator("dart run build_runner build", folder, path)
        if _TEXTS_OF_FLUTTER.search(text) or f"{folder}/l10n.yaml".lstrip("/") in tree.paths:
            yield Generator("flutter gen-l10n", folder, path)


def _migrations(tree: ProjectTree) -> Iterable[Generator]:
    """What writes a migration of a data base, after models have changed."""
    for path in tree.find("manage.py")[:1]:
        yield Generator("python manage.py makemigrations", dirname(path), path)
    for path in tree.find("alembic.ini")[:2]:
        starter = find_python_starter(tree, dirname(path))
        yield Generator(f"{starter}alembic revision --autogenerate -m TEXT", dirname(path), path)


_XCODEGEN = re.compile(r"^targets:", re.MULTILINE)


def _xcode(tree: ProjectTree) -> Iterable[Generator]:
    """What writes the project of Xcode."""
    for path in tree.find("project.yml", deepest=1):
        if _XCODEGEN.search(tree.texts.get(path, "")):
            yield Generator("xcodegen generate", dirname(path), path)
    for path in tree.find("Project.swift", deepest=1):
        if any(each.startswith("Tuist") for each in tree.paths):
            yield Generator("tuist generate", dirname(path), path)


def has_generator_text(path: str) -> bool:
    """Whether a file is read for the generators that it names."""
    return basename(path) == "project.yml" and path.count("/") <= 1


_FINDERS: tuple[Callable[[ProjectTree], Iterable[Generator]], ...] = (_by_file, _dart, _migrations, _xcode)
