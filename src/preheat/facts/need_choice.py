"""Which fact names what a command is about to lack: a program, its project's folder, a variable, packages, a match for a pattern.
Said only where the command would really fail. Pure; knows no wording."""

import re
from collections.abc import Callable, Sequence

from preheat.commands.words import name_set
from preheat.facts.place import QUOTED, Piece, Place, is_away, is_outside, split_pieces
from preheat.model.lesson import Lesson

RUNNERS = frozenset(["npm", "pnpm", "yarn", "bun"])
_INSTALLING = frozenset(["install", "i", "ci", "add", "remove", "update", "upgrade", "dedupe"])
"""What writes a lock file; scripts run by another package manager all the same."""
_PATTERN = re.compile(r"(?<![\\$({])[*?](?![)}])")
_NO_PATTERNS = name_set("[[ (( noglob case for function if while until then do elif !")
"""Words before which a shell expands no pattern, or that we do not look behind."""
_ELSEWHERE = re.compile(r"\s(?:-C|--cwd|--prefix|--manifest-path|--project|--chdir|-f|-g|--global|--dir)(?:[= ]|$)")
_ANYWHERE = name_set(
    "--version -v -V version --help -h help env init create new dlx view info login logout whoami search config cache which list"
    " install uninstall binstall"
)
"""Subcommands that need no project."""
_LONG = re.compile(r"^(?:9\d|\d{3,}) s$|min$")
"""How long a check takes that may be cut off by a usual time limit."""
ARGUMENT = re.compile(r"\s(?:\S*/\S+|\S+\.\w{1,4}|-k|-t|-run|--filter|-p|--grep)(?:\s|$)")
"""A command on one file, one package or one case, for which that of the whole is no replacement."""
_LEAST_SESSIONS = 2


def choose_for_needs(candidates: Sequence[Lesson], command: str, place: Place) -> Lesson | None:
    """The fact on what a command needs and does not have; the first command of a chain that lacks something counts."""
    wanting = [lesson for lesson in candidates if lesson.topic in _NEEDS]
    if is_away(command, place):  # only the machine is the same
        wanting = [lesson for lesson in wanting if lesson.topic in _OF_MACHINE]
    for piece in split_pieces(command) if wanting else ():
        for lesson in wanting:
            if _NEEDS[lesson.topic](lesson, piece, place, command):
                return lesson
    return None


_OF_MACHINE = frozenset(["missing", "pattern"])


def _is_missing(lesson: Lesson, piece: Piece, place: Place, command: str) -> bool:
    """Whether the shell does not find a program that something else starts, or that two sessions missed."""
    program = piece.words[0]
    names = f"{lesson.details.get('names', '')},{lesson.details.get('more', '')}".split(",")
    is_named = program == lesson.details.get("name") or program in names
    is_told = bool(lesson.use) or lesson.support.sessions_for >= _LEAST_SESSIONS
    is_followed = lesson.use.startswith("export PATH=") and "PATH=" in command
    return is_named and is_told and not is_followed and not place.has_program(program)


def _is_other_runner(lesson: Lesson, piece: Piece, place: Place, command: str) -> bool:
    program, name = piece.words[0], lesson.details.get("name", "")
    is_install = program in RUNNERS and not _INSTALLING.isdisjoint(piece.words[1:2]) and "-g" not in piece.words
    return is_install and name in RUNNERS and program != name and not place.folder and not piece.moved


def _is_elsewhere(lesson: Lesson, piece: Piece, place: Place, command: str) -> bool:
    """Whether a program looks for its project in a shell that is known to stand in the project's own folder."""
    is_here = place.folder == "" and not piece.moved and not _ELSEWHERE.search(f" {piece.text} ")
    return is_here and piece.words[0] == lesson.details.get("program") and _looks_for_project(piece)


def _looks_for_project(piece: Piece) -> bool:
    is_named = any(
        before in _PROJECT_OPTIONS and "/" in word for before, word in zip(piece.words, piece.words[1:], strict=False)
    )
    return len(piece.words) > 1 and piece.words[1] not in _ANYWHERE and "@" not in piece.words[-1] and not is_named


_PROJECT_OPTIONS = frozenset(["-project", "-workspace"])
"""Options of `xcodebuild` that name the project with its folder."""


def _wants_variable(lesson: Lesson, piece: Piece, place: Place, command: str) -> bool:
    """Whether a command is the very one that stopped for want of a variable, and does not set it; one file alone may not need
    it."""
    names = [name for name in lesson.details.get("names", "").split(",") if name]
    known = [each for each in lesson.details.get("commands", "").split("\n") if each]
    is_known = any(
        piece.text == each or (piece.text.startswith(f"{each} ") and not ARGUMENT.search(f"{piece.text[len(each) :]} "))
        for each in known
    )
    return is_known and not any(re.search(rf"\b{re.escape(name)}\b", command) for name in names)


def _has_pattern(lesson: Lesson, piece: Piece, place: Place, command: str) -> bool:
    """Whether a pattern outside of quotes matches nothing."""
    if piece.moved or piece.words[0] in _NO_PATTERNS:
        return False
    words = QUOTED.sub("", piece.text).split()[1:]
    return any(_PATTERN.search(word) and not place.has_match(word) for word in words)


def _takes_long(lesson: Lesson, piece: Piece, place: Place, command: str) -> bool:
    is_long = bool(_LONG.search(lesson.details.get("duration", "")))
    use = lesson.use.rpartition("&& ")[2]
    return is_long and (piece.text == use or piece.text.startswith(f"{use} "))


def _lacks_modules(lesson: Lesson, piece: Piece, place: Place, command: str) -> bool:
    is_check = piece.words[0] in RUNNERS and piece.words[1:2] not in ((), ("install",), ("i",), ("ci",), ("add",))
    is_install = lesson.files == ("package.json",) and lesson.use.endswith(" install")
    return place.lacks_modules and is_check and is_install and not piece.moved and not is_outside(place.folder or "")


_NEEDS: dict[str, Callable[[Lesson, Piece, Place, str], bool]] = {
    "setup": _lacks_modules,
    "missing": _is_missing,
    "runner": _is_other_runner,
    "folder": _is_elsewhere,
    "variable": _wants_variable,
    "pattern": _has_pattern,
    **dict.fromkeys(("test", "build", "lint", "typecheck", "check"), _takes_long),
}
"""By topic, whether a command is about to need a fact of it."""
