"""In which files of a project the same version stands, to be changed together. Pure."""

import re
from collections.abc import Mapping
from posixpath import basename
from typing import Any

from preheat.facts.values import ProjectTree, make_fact
from preheat.manifests.scripts import LARGEST, read_json, read_toml, table_in
from preheat.model.lesson import Lesson

_OF_JSON = re.compile(r"(?:package|plugin|manifest|composer|tauri\.conf|[\w.-]*extension)\.json")
_OF_TOML: dict[str, tuple[tuple[str, ...], ...]] = {
    "Cargo.toml": (("package",), ("workspace", "package")),
    "pyproject.toml": (("project",), ("tool", "poetry")),
}
_OTHERS = re.compile(
    r"(?:^|/)(?:node_modules|vendor|third_party|tests?|fixtures?|examples?|testdata|templates?|samples?|dist|build)/"
)
_OF_PYTHON = re.compile(r"(?:src/)?\w+/(?:__init__|__version__|_version|version)\.py")
_IN_PYTHON = re.compile(r"^__version__\s*(?::\s*str\s*)?=\s*[\"'](?P<version>[^\"'\n]+)[\"']", re.MULTILINE)
_VERSION = re.compile(r"\d+(?:\.\d+){1,3}(?:-[\w.]+)?")
_BEGUN = frozenset(["0.0", "0.0.0", "0.0.1", "0.1", "0.1.0", "1.0", "1.0.0"])
"""What files are made with: two that have it may have nothing in common."""
_MOST_DEEP, _MOST_FILES = 2, 6
_RAISING = re.compile(r"(?:^|/)(?:\.changeset/config|lerna|release-please-config|\.release-it)\.json$")
"""Files of programs that raise all versions themselves."""
_SELDOM = 0.1
"""The reach of what is said only before an edit that needs it."""
_LINE = re.compile(r"^\s*(?:[\"']?version[\"']?\s*[:=]|__version__\b)")


def has_version_text(path: str) -> bool:
    """Whether a file is read for the version of the project."""
    name = basename(path)
    is_manifest = _OF_JSON.fullmatch(name) is not None or name in _OF_TOML
    return ((is_manifest and path.count("/") <= _MOST_DEEP) or is_python_version(path)) and not _OTHERS.search(path)


def is_python_version(path: str) -> bool:
    """Whether a file is a module of Python that may state the version of its package."""
    return _OF_PYTHON.fullmatch(path) is not None


def learn_versions(tree: ProjectTree) -> list[Lesson]:
    """A fact on the files that have the version of the project's own folder, where there are several."""
    if any(map(_RAISING.search, tree.paths)):
        return []
    by_version: dict[str, list[str]] = {}
    for path in sorted(tree.texts, key=lambda each: (each.count("/"), each)):
        version = _read_version(path, tree.texts[path]) if has_version_text(path) else ""
        if version and version not in _BEGUN:
            by_version.setdefault(version, []).append(path)
    files = next((paths for paths in by_version.values() if len(paths) > 1 and "/" not in paths[0]), [])
    if not 1 < len(files) <= _MOST_FILES:
        return []
    listed = ", ".join(f"`{path}`" for path in files)
    return [
        make_fact(
            tree, "version", tuple(files), f"The same version stands in {listed}.", reach=_SELDOM, files=tuple(files),
            details={"about": "version"},
        )
    ]  # fmt: skip


def changes_version(line: str) -> bool:
    """Whether a line of a manifest states its version."""
    return _LINE.match(line) is not None


def _read_version(path: str, text: str) -> str:
    if len(text) > LARGEST:
        return ""
    name = basename(path)
    if name.endswith(".py"):
        found = _IN_PYTHON.search(text)
        return _version_of(found.groupdict()) if found else ""
    if name not in _OF_TOML:
        return _version_of(table_in(read_json(text)))
    document = read_toml(text)
    return next(filter(None, (_version_of(table_in(document, *way)) for way in _OF_TOML[name])), "")


def _version_of(table: Mapping[str, Any]) -> str:
    version = table.get("version")
    return version if isinstance(version, str) and _VERSION.fullmatch(version) else ""
