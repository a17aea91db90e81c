"""Which fact a call is about to need, by what it runs or changes: what would make it fail, what it sets off, what the project has
of its own for the same. Pure; knows no wording.

A hook waits for this: a command is taken apart by its separators alone, without a parser.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from preheat.commands.commit_message import first_line_of_message
from preheat.facts.change_choice import choose_for_change, choose_for_new_file
from preheat.facts.checks import CHECK_TOPICS, command_key, purpose_of_command
from preheat.facts.fitness import is_common, is_main, is_of_one_language, is_usable, is_whole, tool_of
from preheat.facts.summary import SUMMED_UP, summarise_checks, summary_id
from preheat.facts.variants import commands_beside
from preheat.model.lesson import Lesson

_COMMIT = re.compile(r"(?:^|[;&|\n]\s*)git\s+commit\b")
_PUSH = re.compile(r"(?:^|[;&|\n]\s*)git\s+push\b")
_PULL = re.compile(r"\bgh\s+pr\s+create\b")
_BRANCH = re.compile(r"\bgit\s+(?:checkout\s+-[bB]|switch\s+(?:-c|--create)|worktree\s+add\b[^;&|\n]*\s-[bB])\b")
_SEPARATOR = re.compile(r"&&|\|\||[;|\n]")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_HERE_TEXT = re.compile(r"<<-?\s*(['\"]?)(?P<end>\w+)\1[^\n]*\n.*?(?:\n\s*(?P=end)\b|\Z)", re.DOTALL)
_JOINING = re.compile(r"[;&|\n]")
_PATTERN = re.compile(r"(?<![\\$({])[*?](?![)}])")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_LOCAL_PORT = re.compile(r"(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\]):(?P<port>\d{2,5})\b")
_ELSEWHERE = re.compile(r"\s(?:-C|--cwd|--prefix|--manifest-path|--project|--chdir|-f)[= ]")
_RUNNERS = frozenset(["npm", "pnpm", "yarn", "bun"])
_TASK_RUNNERS = _RUNNERS | {"make", "just", "mise", "task", "tox", "nox", "poe", "hatch"}
_INSTALLING = frozenset(["install", "i", "ci", "add", "remove", "update", "upgrade", "dedupe"])
"""What writes a lock file; scripts run by another package manager all the same."""
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
    is_there: Callable[[str], bool] = lambda path: True
    """Whether there is a file of the project, by its path in it."""
    edited: tuple[str, ...] = ()
    """Files that the session changed so far, relative to the project."""
    ran: tuple[str, ...] = ()
    """Checks that the session ran: nobody has to be told of them."""
    stated: frozenset[str] = frozenset()
    """Topics of checks that the agent's instruction files state."""


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
    known = [lesson for lesson in lessons if lesson.kind == "convention" and lesson.status == "active"]
    facts = [lesson for lesson in known if is_usable(lesson)]
    beside = commands_beside(facts, told)
    candidates = [
        lesson
        for lesson in facts
        if lesson.id not in told
        and lesson.use not in beside
        and not _was_run(lesson, place.ran)
        and not is_common(lesson)
    ]
    found = _choose_for_needs(candidates, command, place) if command else None
    if found is None and command:
        has_hook = any(lesson.topic == "hook" and lesson.details.get("about") == "commit" for lesson in facts)
        purposes = _known_purposes(facts, told, place.ran)
        found = (
            _choose_for_version_control(candidates, command, has_hook, place, purposes)
            or _choose_for_purpose(candidates, command, place)
            or _choose_for_server(candidates, command)
        )
    if found is None and changed:
        done = [lesson for lesson in facts if lesson.id in told or _was_run(lesson, place.ran)]
        new = [path for path in changed if not place.is_there(path)]
        found = choose_for_new_file([lesson for lesson in known if lesson.id not in told], new) or choose_for_change(
            candidates, changed, done, _known_purposes(facts, told, place.ran) | place.stated
        )
    return found


def _was_run(lesson: Lesson, ran: Iterable[str]) -> bool:
    """Whether the session ran a fact's command itself; what it sees by that, it needs no line for."""
    return bool(lesson.use) and lesson.topic in (*CHECK_TOPICS, "check") and any(lesson.use in each for each in ran)


def _known_purposes(facts: Iterable[Lesson], told: frozenset[str], ran: Iterable[str]) -> frozenset[str]:
    """Topics of the checks of the whole that a session was told of or has run."""
    lessons = list(facts)
    if any(summary_id(lesson.scope.project) in told for lesson in lessons[:1]):
        return frozenset(SUMMED_UP)
    of_told = {
        topic
        for lesson in lessons
        if lesson.id in told and (is_whole(lesson) or lesson.topic == "format")
        for topic in (lesson.topic, *map(purpose_of_command, lesson.details.get("body", "").split(" && ")))
    }
    return frozenset(
        of_told.union(purpose_of_command(piece.text) for each in ran for piece in split_pieces(each[:_MOST]))
    )


def _choose_for_version_control(
    candidates: Sequence[Lesson], command: str, has_hook: bool, place: Place, purposes: frozenset[str]
) -> Lesson | None:
    wanted: list[tuple[str, str]] = []
    changelog = [("release", "changelog")] if place.edited else []
    if _COMMIT.search(command):
        wanted = [("hook", "commit"), ("commit", "message"), *changelog]
    elif _PULL.search(command):
        wanted = [("release", "change file"), *changelog, ("pull_request", "pull request"), ("hook", "push")]
    elif _PUSH.search(command):
        wanted = [("hook", "push"), ("release", "change file")]
    elif _BRANCH.search(command):
        wanted = [("branch", "branch")]
    for topic, about in wanted:
        fitting = [
            lesson
            for lesson in candidates
            if lesson.topic == topic
            and lesson.details.get("about") == about
            and _is_for_commit(lesson, place)
            and not _has_form(lesson, command)
        ]
        if fitting:
            return min(fitting, key=lambda lesson: (not is_main(lesson), not is_whole(lesson)))
    if _COMMIT.search(command) and place.edited and not has_hook:  # nothing will check or format it
        return summarise_checks(candidates, place.edited, purposes | place.stated)
    return None


def _has_form(lesson: Lesson, command: str) -> bool:
    """Whether the message of a commit has the form already that a fact tells of."""
    if lesson.topic != "commit":
        return False
    types = "|".join(map(re.escape, lesson.details.get("types", "").split(",")))
    scope = r"\([^)\n]{1,40}\)" + ("" if lesson.details.get("scope") == "yes" else "|")
    return re.match(rf"(?:{types})(?:{scope})!?: \S", first_line_of_message(command)) is not None


def _is_for_commit(lesson: Lesson, place: Place) -> bool:
    """Whether a fact is about what is committed; a file that was changed is not forgotten."""
    if lesson.topic == "release":
        path = lesson.details.get("path", "").rstrip("/")
        return not any(each == path or each.startswith(f"{path}/") for each in place.edited)
    return not lesson.details.get("package")


def _choose_for_server(candidates: Sequence[Lesson], command: str) -> Lesson | None:
    """What starts the server that a command asks, by its port."""
    ports = {found["port"] for found in _LOCAL_PORT.finditer(command[:_MOST])}
    if not ports:
        return None
    starting = [lesson for lesson in candidates if lesson.topic == "serve"]
    for lesson in starting:
        if not ports.isdisjoint({lesson.details.get("port", ""), *lesson.details.get("ports", "").split(",")} - {""}):
            return lesson
    has_port = any(lesson.details.get("port") for lesson in starting)
    return None if has_port else next((lesson for lesson in starting if lesson.details.get("main")), None)


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
    """Whether a fact's command may stand for what is typed: the same program, or a task that runs the like of it."""
    program, body = lesson.use.split()[0], lesson.details.get("body", "")
    if program == piece.words[0] or tool_of(lesson.use) == tool_of(piece.text):
        return True
    return program in _TASK_RUNNERS and (not body or is_of_one_language(piece.text, lesson))


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


def split_pieces(command: str) -> Iterator[Piece]:
    """The commands of a shell text, without variables before them; a text that is handed to one is no command."""
    moved = False
    plain = _QUOTED.sub(lambda found: _JOINING.sub(" ", found[0]), _HERE_TEXT.sub(" ", command))
    for part in _SEPARATOR.split(plain):
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
    is_install = program in _RUNNERS and not _INSTALLING.isdisjoint(piece.words[1:2]) and "-g" not in piece.words
    return is_install and name in _RUNNERS and program != name and not place.folder and not piece.moved


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
