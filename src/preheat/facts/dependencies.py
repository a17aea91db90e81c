"""Whether an edit of a manifest changes what is to be installed, and which manifest a set-up is for. Pure."""

import re
from collections.abc import Sequence
from posixpath import basename

from preheat.model.lesson import Lesson

_MANIFESTS = {
    "uv.lock": "pyproject.toml",
    "poetry.lock": "pyproject.toml",
    "pdm.lock": "pyproject.toml",
    "Pipfile.lock": "Pipfile",
    "Gemfile.lock": "Gemfile",
    "composer.lock": "composer.json",
    "mix.lock": "mix.exs",
    "pubspec.lock": "pubspec.yaml",
    "Podfile.lock": "Podfile",
}
"""By the file that a set-up is known by, the one that people change."""
_VERSION = (
    r"(?:[\^~<>=*!][^\"'\n]*|v?\d[\w.*+-]*|latest|lts[\w/-]*"
    r"|(?:workspace|catalog|npm|file|link|git[\w+]*|https?):[^\"'\n]*)"
)
_OF_JSON = re.compile(
    r"(?:^|[{,]\s*)\"(?!(?:version|node|npm|pnpm|yarn|bun|vscode|packageManager|target)\")@?[\w./-]+\"\s*:\s*"
    rf"\"{_VERSION}\""
)
_OF_PYTHON = re.compile(
    r"^[\"'][A-Za-z][\w.-]*(?:\[[\w, -]+\])?\s*(?:[<>=~!@;][^\"']*)?[\"'],?$"
    r"|^(?!(?:version|python|requires-python|target-version|line-length|name)\b)[A-Za-z][\w.-]*\s*=\s*"
    rf"(?:\{{.*version|[\"']{_VERSION}[\"'])"
    r"|^dependencies\s*=\s*\[.*[\"']"
)
_OF_TOOLS = re.compile(
    rf"^\"?(?!(?:min_version|version|run|depends)\b)[\w@:/.-]+\"?\s*=\s*(?:\[?\s*[\"']{_VERSION}[\"']|\{{\s*version)"
)
_LINES = {
    "package.json": _OF_JSON,
    "composer.json": _OF_JSON,
    "pyproject.toml": _OF_PYTHON,
    "Pipfile": _OF_PYTHON,
    "mise.toml": _OF_TOOLS,
    ".mise.toml": _OF_TOOLS,
    "Gemfile": re.compile(r"^gem\s"),
    "mix.exs": re.compile(r"^\{:\w+,"),
    "pubspec.yaml": re.compile(rf"^(?!(?:version|sdk|flutter)\b)\w+:\s*(?:[\"']?{_VERSION}[\"']?$|any$)"),
    "Podfile": re.compile(r"^pod\s"),
    "requirements.txt": re.compile(r"^[A-Za-z]"),
    ".gitmodules": re.compile(r"^(?:url|path|\[submodule)"),
}
"""By the name of a manifest, a line of it that says what is to be installed."""
_INSTALLING = re.compile(r"\b(?:install|sync|get|update --init)\b")


def manifest_of(lesson: Lesson) -> str:
    """The manifest whose packages a set-up installs; empty for a set-up of another kind: hooks, browsers, a script."""
    if (
        not lesson.files
        or not _INSTALLING.search(lesson.use)
        or re.search(r"pre-commit|playwright|\brun\b", lesson.use)
    ):
        return ""
    folder, _, name = lesson.files[0].rpartition("/")
    return f"{folder}/{_MANIFESTS.get(name, name)}".lstrip("/")


def changes_dependencies(path: str, lines: Sequence[str]) -> bool:
    """Whether a manifest's lines, added or removed, name a package with its version: not a script, nor the project's own
    version."""
    pattern = _LINES.get(basename(path))
    return pattern is not None and any(pattern.search(line.strip()) for line in lines)
