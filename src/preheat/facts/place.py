"""Where a call is about to be made and what is known of it, and the commands of its shell text. Pure; knows no lesson.

A hook waits for this: a command is taken apart by its separators alone, without a parser.
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

MOST_TEXT = 4000
"""Characters of a command that are looked at."""
_SEPARATOR = re.compile(r"&&|\|\||[;|\n]")
QUOTED = re.compile(r"\$'(?:[^'\\]|\\.)*'|'[^']*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
_HERE_TEXT = re.compile(r"<<-?\s*(['\"]?)(?P<end>\w+)\1[^\n]*\n.*?(?:\n\s*(?P=end)\b|\Z)", re.DOTALL)
_JOINING = re.compile(r"[;&|\n#]")
_COMMENT = re.compile(r"(?:^|(?<=\s))#[^\n]*")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_OUTSIDE = re.compile(r"/|~|\.\.(?:/|$)|[A-Za-z]:")
_AWAY = re.compile(
    r"(?:^|[;&|\n(]\s*)(?:cd|pushd)\s+[\"']?(?:/|~|\.\.|\$)|\bgit\s+-C\s+[\"']?(?:/|~|\.\.|\$)"
    r"|\bgh\s[^;&|\n]*\s(?:--repo|-R)[= ]"
)


class Place(NamedTuple):
    """Where a call is about to be made. What is not known stands for what needs no line."""

    folder: str | None = None
    """The shell's folder, relative to the project; None where it is not known."""
    has_match: Callable[[str], bool] = lambda pattern: True
    """Whether a pattern of the shell, seen from that folder, matches a file."""
    has_program: Callable[[str], bool] = lambda name: False
    """Whether the shell is known to find a program."""
    lacks_modules: bool = False
    """The packages that the project's manifest names are not installed."""
    is_there: Callable[[str], bool] = lambda path: True
    """Whether there is a file of the project, by its path in it."""
    edited: tuple[str, ...] = ()
    """Files that the session changed so far, relative to the project."""
    ran: tuple[str, ...] = ()
    """Checks that the session ran: nobody has to be told of them."""
    stated: frozenset[str] = frozenset()
    """Topics of checks that the agent's instruction files state."""
    created: tuple[str, ...] = ()
    """Files that the call writes whole, relative to the project."""
    lines: tuple[str, ...] = ()
    """Lines that the call adds or removes, as far as its arguments show them."""
    has_kind: Callable[[str, str], bool] = lambda folder, ending: True
    """Whether a folder of the project holds a file of an ending (`.ts`)."""
    listens: Callable[[str], bool] = lambda port: True
    """Whether something answers on a port of this machine."""


NOWHERE = Place()


class Piece(NamedTuple):
    """One command of a shell text."""

    words: tuple[str, ...]
    moved: bool
    """A `cd` stands before it."""

    @property
    def text(self) -> str:
        return " ".join(self.words)


def split_pieces(command: str) -> Iterator[Piece]:
    """The commands of a shell text, without variables before them; a text that is handed to one is no command."""
    moved = False
    plain = _HERE_TEXT.sub(" ", command[:MOST_TEXT].replace("\\\n", " "))
    plain = QUOTED.sub(lambda found: _JOINING.sub(" ", found[0]), plain)
    for part in _SEPARATOR.split(_COMMENT.sub(" ", plain)):
        words = part.split()
        while words and _ASSIGNMENT.match(words[0]):
            words = words[1:]
        if words[:1] == ["cd"]:
            moved = True
        elif words:
            yield Piece(tuple(words), moved)


def is_outside(path: str) -> bool:
    """Whether a path, relative to the project where it lies in it, lies elsewhere: a scratch file, another clone."""
    return _OUTSIDE.match(path) is not None


def is_away(command: str, place: Place) -> bool:
    """Whether a command works on another repository than the project's, as far as it says so."""
    return (place.folder is not None and is_outside(place.folder)) or _AWAY.search(command[:MOST_TEXT]) is not None
