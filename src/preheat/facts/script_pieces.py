"""The commands that a script runs, each with the folder in which it runs. Pure; knows no program."""

import re
from collections.abc import Callable, Iterator
from posixpath import join, normpath
from typing import NamedTuple

from preheat.facts.place import QUOTED

_SUBSTITUTED = re.compile(r"\"(\$\([^\"]*\))\"")
_REDIRECTION = re.compile(r"\d?>&\d|&>>?\s*\S+|\d?>>?\s*[^\s;&|)]+|(?<!<)<\s*[^\s;&|)<]+")
_SPACES = re.compile(r"[\s;&|()#]")
_CONTINUED = re.compile(r"\\;?[ \n]\s*")
_SEPARATOR = re.compile(r"(&&|\|\||[;|&()\n])")
_LEADING = re.compile(r"(?:if|then|do|else|elif|while|until|time|!|\{|[A-Za-z_]\w*\+?=\S*)")
_LINES_APART = frozenset(["make", "task"])
"""Runners that give each line of a script a shell of its own."""
_MAYBE_APART = frozenset(["mise", "just", "python", "composer"])
"""Those that do so with a list, or without a first line that names a shell."""


class ScriptPiece(NamedTuple):
    """One command of a script."""

    words: tuple[str, ...]
    """Without quotes, and without what stands before a program: `if`, `A=b`."""
    folder: str | None
    """Where it runs, relative to the project; None where that is not known."""
    is_filter: bool
    """It reads what another one prints."""


def split_script(body: str, runner: str, start: str | None, has_folder: Callable[[str], bool]) -> Iterator[ScriptPiece]:
    """The commands of a script that starts in a folder."""
    folder = start
    around: list[str | None] = []
    line: list[str] = []
    """The first words of the commands since a line began."""
    before = ""
    for place, part in enumerate(_SEPARATOR.split(_plain(body))):
        if place % 2:
            before = part
            if part == "(":
                around.append(folder)
            elif part == ")" and around:
                folder = around.pop()
            elif part == ";" and not around:
                if line == ["cd"] and runner not in _LINES_APART:
                    start = folder
                folder = _folder_of_next_line(folder, start, runner, line)
                line = []
            continue
        words = tuple(word.strip("\"'") for word in part.lstrip(" \t@+-").split())
        while words and _LEADING.fullmatch(words[0]):
            words = words[1:]
        if not words:
            continue
        line.append(words[0])
        if words[0] in ("cd", "pushd"):
            folder = _go(folder, words[1:], has_folder)
        else:
            yield ScriptPiece(words, folder, before == "|")


def _plain(body: str) -> str:
    """A script without line ends in its commands, redirections, and what quotes hide."""
    text = _SUBSTITUTED.sub(r" \1 ", _CONTINUED.sub(" ", body.replace("$$", "$")))
    return _REDIRECTION.sub(" ", QUOTED.sub(lambda found: _SPACES.sub("_", found[0]), text))


def _folder_of_next_line(folder: str | None, start: str | None, runner: str, line: list[str]) -> str | None:
    if folder == start or line == ["cd"] or not (runner in _LINES_APART or runner in _MAYBE_APART):
        return folder
    return start if runner in _LINES_APART else None


def _go(folder: str | None, words: tuple[str, ...], has_folder: Callable[[str], bool]) -> str | None:
    if folder is None or len(words) != 1:
        return None
    return find_folder(folder, words[0], has_folder)


def find_folder(folder: str, place: str, has_folder: Callable[[str], bool]) -> str | None:
    """The folder of the project that a place names, seen from another one; None where there is none."""
    path = normpath(join(folder, place)) if place else folder
    path = "" if path == "." else path
    return (
        path
        if re.fullmatch(r"[\w./@-]*", path) and path[:1] not in ("/", "~") and path[:2] != ".." and has_folder(path)
        else None
    )
