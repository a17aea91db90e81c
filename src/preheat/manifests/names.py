"""Which scripts, targets, recipes and tasks a manifest has, by its text; None for a text that is not understood. Pure."""

import configparser
import re
import tomllib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import msgspec

Names = tuple[str, ...]
_TARGET = re.compile(r"^([A-Za-z0-9_./-]+(?:[ \t]+[A-Za-z0-9_./-]+)*)[ \t]*::?(?!=)", re.MULTILINE)
_OPEN_MAKE = re.compile(r"^(?:-?s?include\b|[^\t#\n]*%[^\n]*:|\$[({][^\n]*:|define\b)", re.MULTILINE)
_RECIPE = re.compile(r"^@?([A-Za-z_][\w-]*)(?:[ \t]+[^:\n]*)?:(?!=)", re.MULTILINE)
_ALIAS = re.compile(r"^alias[ \t]+([\w-]+)[ \t]*:=", re.MULTILINE)
_OPEN_JUST = re.compile(r"^(?:import\??|mod\??|set[ \t]+fallback)\b", re.MULTILINE)
_SESSION = re.compile(r"^@nox\.session\b[^\n]*\n(?:@[^\n]*\n)*def[ \t]+(\w+)", re.MULTILINE)
_TASK = re.compile(r"^  ([\w:.-]+):[ \t]*(?:$|\S)", re.MULTILINE)


def _package_json(text: str) -> Names | None:
    return _keys(_json(text), "scripts")


def _composer_json(text: str) -> Names | None:
    return _keys(_json(text), "scripts")


def _deno_json(text: str) -> Names | None:
    return _keys(_json(text), "tasks")


def _mise_toml(text: str) -> Names | None:
    return _keys(_toml(text), "tasks")


def _cargo_config(text: str) -> Names | None:
    return _keys(_toml(text), "alias")


def _poe_tasks(text: str) -> Names | None:
    return _keys(_toml(text), "tool", "poe", "tasks")


def _makefile(text: str) -> Names | None:
    if _OPEN_MAKE.search(text):
        return None
    return tuple(
        dict.fromkeys(name for line in _TARGET.findall(text) for name in line.split() if not name.startswith("."))
    )


def _justfile(text: str) -> Names | None:
    if _OPEN_JUST.search(text):
        return None
    return tuple(dict.fromkeys((*_RECIPE.findall(text), *_ALIAS.findall(text))))


def _noxfile(text: str) -> Names | None:
    return tuple(_SESSION.findall(text)) or None


def _tox_ini(text: str) -> Names | None:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
    except configparser.Error:
        return None
    return tuple(name.removeprefix("testenv:") for name in parser.sections() if name.startswith("testenv:")) or None


def _taskfile(text: str) -> Names | None:
    _, found, tasks = text.partition("\ntasks:")
    return tuple(_TASK.findall(tasks)) if found and "\nincludes:" not in text else None


class Manifest(NamedTuple):
    """A kind of manifest."""

    files: Names
    """Names that it may have, the first that is there counts."""
    kind: str
    read: Callable[[str], Names | None]


PACKAGE = Manifest(("package.json",), "scripts", _package_json)
MANIFESTS: dict[str, Manifest] = {
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), PACKAGE),
    "make": Manifest(("GNUmakefile", "makefile", "Makefile"), "targets", _makefile),
    "just": Manifest(("justfile", "Justfile", ".justfile"), "recipes", _justfile),
    "mise": Manifest(("mise.toml", ".mise.toml"), "tasks", _mise_toml),
    "task": Manifest(("Taskfile.yml", "Taskfile.yaml", "taskfile.yml"), "tasks", _taskfile),
    "composer": Manifest(("composer.json",), "scripts", _composer_json),
    "deno": Manifest(("deno.json", "deno.jsonc"), "tasks", _deno_json),
    "poe": Manifest(("pyproject.toml",), "tasks", _poe_tasks),
    "tox": Manifest(("tox.ini",), "environments", _tox_ini),
    "nox": Manifest(("noxfile.py",), "sessions", _noxfile),
    "cargo": Manifest((".cargo/config.toml",), "aliases", _cargo_config),
}
"""By the program that runs what the manifest names."""


def _json(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _toml(text: str) -> Any:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return None


def _keys(document: Any, *way: str) -> Names | None:
    """The keys of a table in a document; none if there is no such table, None if it is no document."""
    if not isinstance(document, Mapping):
        return None
    for name in way:
        document = document.get(name, {})
        if not isinstance(document, Mapping):
            return None
    return tuple(str(key) for key in document)
