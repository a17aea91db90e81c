"""Manifests of a tree that nothing can be read from, and the line where they break off. Pure."""

import json
import re
import tomllib
from posixpath import basename
from typing import NamedTuple

from preheat.commands.words import name_set
from preheat.facts.values import ProjectTree

_JSON = name_set("package.json composer.json")
_TOML = name_set("pyproject.toml Cargo.toml mise.toml .mise.toml")
_PLACE = re.compile(r"\(at line (?P<line>\d+)")
_MOST_DEEP = 2


class UnreadableManifest(NamedTuple):
    """A manifest that says nothing, because it is broken or too large."""

    file: str
    line: int
    """The number of the line that is wrong, from 1; 0 where none is."""
    why: str


def find_unreadable(tree: ProjectTree) -> list[UnreadableManifest]:
    """The manifests of a project that cannot be read, the highest first."""
    found = []
    for path in tree.find(*sorted(_JSON | _TOML), deepest=_MOST_DEEP):
        if path not in tree.texts:
            found.append(UnreadableManifest(path, 0, "it is empty or too large, so that no command was read from it"))
        elif (line := _wrong_line(path, tree.texts[path])) is not None:
            kind = "JSON" if basename(path) in _JSON else "TOML"
            found.append(UnreadableManifest(path, line, f"it is no valid {kind}, so that no command was read from it"))
    return found


def _wrong_line(path: str, text: str) -> int | None:
    """The line in which a manifest breaks off, 0 where no line is named; None if it is as it should be."""
    try:
        json.loads(text) if basename(path) in _JSON else tomllib.loads(text)
    except json.JSONDecodeError as error:
        return error.lineno
    except tomllib.TOMLDecodeError as error:
        found = _PLACE.search(str(error))
        return int(found["line"]) if found else text.count("\n") + 1
    except (RecursionError, ValueError):
        return 0
    return None
