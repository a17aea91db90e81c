"""Which fact a call is about to need, by what it runs or changes: what would make it fail, or what it sets off. Pure; knows no
wording.

A hook waits for this: a command is taken apart by its separators alone, without a parser.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from preheat.facts.checks import CHECK_TOPICS, command_key, purpose_of_command
from preheat.facts.choice import is_usable
from preheat.model.lesson import Lesson

_COMMIT = re.compile(r"(?:^|[;&|\n]\s*)git\s+commit\b")
_PUSH = re.compile(r"(?:^|[;&|\n]\s*)git\s+push\b")
_PULL = re.compile(r"\bgh\s+pr\s+create\b")
_BRANCH = re.compile(r"\bgit\s+(?:checkout\s+-[bB]|switch\s+(?:-c|--create))\b")
_SEPARATOR = re.compile(r"&&|\|\||[;|\n]")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_PATTERN = re.compile(r"(?<![\\$({])[*?](?![)}])")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_ELSEWHERE = re.compile(r"\s(?:-C|--cwd|--prefix|--manifest-path|--project|--chdir|-f)[= ]")
_RUNNERS = frozenset(["npm", "pnpm", "yarn", "bun"])
_TASK_RUNNERS = _RUNNERS | {"make", "just", "mise", "task", "tox", "nox", "poe", "hatch"}
_RUNNING = frozenset(["run", "test", "install", "i", "ci", "add", "exec", "start", "build"])
_LONG = re.compile(r"^(?:9\d|\d{3,}) s$|min$")
"""How long a check takes that may be cut off by a usual time limit."""
_ARGUMENT = re.compile(r"\s(?:\S*/\S+|\S+\.\w{1,4}|-k|-t|-run|--filter|-p|--grep)(?:\s|$)")
"""A command on one file, one package or one case, for which that of the whole is no replacement."""
_MOST = 4000
"""Characters of a command that are looked at."""


class Place(NamedTuple):
    """Where a call is about to be made."""

    folder: str = ""
    """The shell's folder, relative to the project."""
    has_match: Callable[[str], bool] = lambda pattern: True
    """Whether a pattern of the shell, seen from that folder, matches a file."""
    has_program: Callable[[str], bool] = lambda name: False
    """Whether the shell is known to find a program."""
    lacks_modules: bool = False
    """The packages that the project's manifest names are not installed."""


NOWHERE = Place()


class Piece(NamedTuple):
    """One command of a shell text."""

    words: tuple[str, ...]
    moved: bool
    """A `cd` stands before it."""

    @property
    def text(self) -> str:
        return " ".join(self.words)


def choose_for_call(
    lessons: Iterable[Lesson],
    command: str,
    changed: Sequence[str] = (),
    told: frozenset[str] = frozenset(),
    place: Place = NOWHERE,
) -> Lesson | None:
    """The fact that a call is about to need: hooks and form at a commit, what a pull request needs, that a file is generated,
    that a program is missing, looks elsewhere for its project, wants a variable or packages, or takes long."""
    facts = [lesson for lesson in lessons if lesson.kind == "convention" and is_usable(lesson)]
    candidates = [lesson for lesson in facts if lesson.id not in told]
    if not candidates:
        return None
    has_hook = any(lesson.topic == "hook" and lesson.details.get("about") == "commit" for lesson in facts)
    return (
        _choose_for_version_control(candidates, command, has_hook)
        or _choose_for_change(candidates, changed)
        or _choose_for_needs(candidates, command, place)
        or _choose_for_purpose(candidates, command, place)
    )


def _choose_for_version_control(candidates: Sequence[Lesson], command: str, has_hook: bool) -> Lesson | None:
    wanted: list[tuple[str, str]] = []
    if _COMMIT.search(command):
        wanted = [("hook", "commit"), ("hook", "message"), ("commit", "message")]
        if not has_hook:  # nothing will format it
            wanted.append(("format", "format"))
    elif _PULL.search(command):
        wanted = [("release", "change file"), ("hook", "push")]
    elif _PUSH.search(command):
        wanted = [("hook", "push")]
    elif _BRANCH.search(command):
        wanted = [("branch", "branch")]
    for topic, about in wanted:
        for lesson in candidates:
            if lesson.topic == topic and lesson.details.get("about") == about and not lesson.details.get("package"):
                return lesson
    return None


def _choose_for_change(candidates: Sequence[Lesson], changed: Sequence[str]) -> Lesson | None:
    for lesson in candidates if changed else ():
        path = lesson.details.get("path", "").rstrip("/")
        if lesson.topic == "generate" and path and any(each == path or each.startswith(f"{path}/") for each in changed):
            return lesson
    for lesson in candidates if changed else ():
        package = lesson.details.get("package", "")
        is_first = lesson.topic == "test" and bool(package) and bool(lesson.details.get("main"))
        if (
            is_first
            and lesson.details.get("about") == "test"
            and any(each.startswith(f"{package}/") for each in changed)
        ):
            return lesson
    return None


_LEAST_REACH = 0.3
"""How likely a session needs the usual command of a check, for it to be said before another one."""


def _choose_for_purpose(candidates: Sequence[Lesson], command: str, place: Place) -> Lesson | None:
    """The project's own command for what a call is about to do otherwise: `mise run test` before `cargo test`."""
    usual = [
        lesson
        for lesson in candidates
        if lesson.topic in CHECK_TOPICS
        and lesson.details.get("about") == lesson.topic
        and not lesson.details.get("package")
        and (lesson.reach or 0.0) >= _LEAST_REACH
    ]
    if not usual or not command:
        return None
    usual.sort(key=lambda lesson: (-lesson.support.sessions_for, -(lesson.reach or 0.0), lesson.id))
    for piece in split_pieces(command[:_MOST]):
        if piece.moved or place.folder or _ARGUMENT.search(piece.text):
            continue
        purpose = purpose_of_command(piece.text)
        first = next((lesson for lesson in usual if lesson.topic == purpose), None)
        if first is not None and not _is_same(piece.text, first) and _runs_the_same(piece, first):
            return first
    return None


def _runs_the_same(piece: Piece, lesson: Lesson) -> bool:
    """Whether a fact's command is a task that may run what is typed, or the same program: one of another language is none."""
    program, body = lesson.use.split()[0], lesson.details.get("body", "")
    return program == piece.words[0] or (program in _TASK_RUNNERS and (not body or piece.words[0] in body.split()))


def _is_same(typed: str, lesson: Lesson) -> bool:
    """Whether a command is that of a fact, or what its script runs."""
    keys = [command_key(each) for each in (lesson.use, lesson.details.get("body", "")) if each]
    return any(command_key(typed).startswith(key) or key.startswith(command_key(typed)) for key in keys)


def _choose_for_needs(candidates: Sequence[Lesson], command: str, place: Place) -> Lesson | None:
    """The fact on what a command needs and may not have; the first command of a chain that lacks something counts."""
    wanting = [lesson for lesson in candidates if lesson.topic in _NEEDS]
    if not wanting or not command:
        return None
    for piece in split_pieces(command[:_MOST]):
        for lesson in wanting:
            if _NEEDS[lesson.topic](lesson, piece, place):
                return lesson
    return None


_NO_MODULE = re.compile(
    r"(?i)module not found|cannot find (?:module|package)|no module named|modulenotfounderror|node_modules missing"
)
_NOT_FOUND = re.compile(r"(?i)command not found: ([\w.+-]+)"), re.compile(r"(?i)([\w.+-]+): (?:command )?not found")


def choose_after_failure(
    lessons: Iterable[Lesson], signature: str, told: frozenset[str] = frozenset()
) -> Lesson | None:
    """The fact that names what a call lacked, by the message of its failure: modules that are not installed, a program that is
    started otherwise here, a variable."""
    missing = next((found for pattern in _NOT_FOUND if (found := pattern.search(signature))), None)
    name = missing[1] if missing else ""
    for lesson in lessons:
        if lesson.id in told or lesson.kind != "convention" or not is_usable(lesson):
            continue
        details = lesson.details
        if (
            lesson.topic == "setup"
            and not details.get("package")
            and "&&" not in lesson.use
            and _NO_MODULE.search(signature)
        ):
            return lesson
        if lesson.topic == "missing" and name and lesson.use:
            known = (details.get("name"), *details.get("names", "").split(","), *details.get("more", "").split(","))
            if name in known:
                return lesson
        if lesson.topic == "variable" and any(
            each and each in signature for each in details.get("names", "").split(",")
        ):
            return lesson
    return None


def split_pieces(command: str) -> Iterator[Piece]:
    """The commands of a shell text, without variables before them."""
    moved = False
    for part in _SEPARATOR.split(command):
        words = part.split()
        while words and _ASSIGNMENT.match(words[0]):
            words = words[1:]
        if words[:1] == ["cd"]:
            moved = True
        elif words:
            yield Piece(tuple(words), moved)


def _is_missing(lesson: Lesson, piece: Piece, place: Place) -> bool:
    program = piece.words[0]
    names = lesson.details.get("names", "").split(",")
    is_named = (
        program == lesson.details.get("name")
        or program in names
        or program in lesson.details.get("more", "").split(",")
    )
    return is_named and not place.has_program(program)


def _is_other_runner(lesson: Lesson, piece: Piece, place: Place) -> bool:
    program, name = piece.words[0], lesson.details.get("name", "")
    is_script = program in _RUNNERS and piece.words[1:2] != () and piece.words[1] in _RUNNING
    return is_script and name in _RUNNERS and program != name and not place.folder and not piece.moved


def _is_elsewhere(lesson: Lesson, piece: Piece, place: Place) -> bool:
    is_here = not place.folder and not piece.moved and not _ELSEWHERE.search(f" {piece.text} ")
    return is_here and piece.words[0] == lesson.details.get("program")


def _wants_variable(lesson: Lesson, piece: Piece, place: Place) -> bool:
    return any(each and piece.text.startswith(each) for each in lesson.details.get("commands", "").split("\n"))


def _has_pattern(lesson: Lesson, piece: Piece, place: Place) -> bool:
    """Whether a pattern outside of quotes matches nothing."""
    if piece.moved:
        return False
    words = _QUOTED.sub("", piece.text).split()[1:]
    return any(_PATTERN.search(word) and not place.has_match(word) for word in words)


def _takes_long(lesson: Lesson, piece: Piece, place: Place) -> bool:
    is_long = bool(_LONG.search(lesson.details.get("duration", "")))
    use = lesson.use.rpartition("&& ")[2]
    return is_long and (piece.text == use or piece.text.startswith(f"{use} "))


def _lacks_modules(lesson: Lesson, piece: Piece, place: Place) -> bool:
    is_check = piece.words[0] in _RUNNERS and piece.words[1:2] not in ((), ("install",), ("i",), ("ci",), ("add",))
    return place.lacks_modules and is_check and lesson.files == ("package.json",) and not piece.moved


_NEEDS: dict[str, Callable[[Lesson, Piece, Place], bool]] = {
    "setup": _lacks_modules,
    "missing": _is_missing,
    "runner": _is_other_runner,
    "folder": _is_elsewhere,
    "variable": _wants_variable,
    "pattern": _has_pattern,
    **dict.fromkeys(("test", "build", "lint", "typecheck", "check"), _takes_long),
}
"""By topic, whether a command is about to need a fact of it."""
