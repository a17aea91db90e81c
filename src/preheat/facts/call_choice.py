"""Which fact a call is about to need, by what it runs or changes: what would make it fail, what it sets off, what the project has
of its own for the same. Pure; knows no wording.

A hook waits for this: a command is taken apart by its separators alone, without a parser.
"""

import re
from collections.abc import Iterable, Sequence

import msgspec

from preheat.commands.purposes import purpose_of_command
from preheat.commands.words import name_set
from preheat.facts.change_choice import choose_for_change, choose_for_new_file
from preheat.facts.checks import CHECK_TOPICS, command_key
from preheat.facts.commit_choice import choose_for_version_control
from preheat.facts.customs import CUSTOMS
from preheat.facts.fitness import is_common, is_of_formatter, is_of_one_language, is_usable, is_whole, tool_of, was_run
from preheat.facts.main_check import has_open_place
from preheat.facts.need_choice import ARGUMENT, RUNNERS, choose_for_needs
from preheat.facts.place import MOST_TEXT, NOWHERE, Piece, Place, is_away, is_outside, split_pieces
from preheat.facts.summary import SUMMED_UP, knows_all_checks
from preheat.facts.variants import ONE_CASE, commands_beside
from preheat.model.lesson import Lesson

__all__ = ["NOWHERE", "Place", "choose_for_call"]

_LOCAL_PORT = re.compile(r"(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\]):(?P<port>\d{2,5})\b")
_OF_OTHERS = name_set(
    "cargo go swift xcodebuild flutter dart mix dotnet mvn gradle ./gradlew pytest php phpunit rspec zig stack sbt"
)
"""Tools of languages whose checks no script of a JavaScript package stands for."""
_TASK_RUNNERS = RUNNERS | {"vp", "make", "just", "mise", "task", "tox", "nox", "poe", "hatch"}


def choose_for_call(
    lessons: Iterable[Lesson],
    command: str,
    changed: Sequence[str] = (),
    told: frozenset[str] = frozenset(),
    place: Place = NOWHERE,
) -> Lesson | None:
    """The fact that a call is about to need: hooks and form at a commit, what a pull request needs, that a file is generated,
    that a program is missing, looks elsewhere for its project, wants a variable or packages, or takes long."""
    known = [_for_change(lesson) for lesson in lessons if lesson.kind == "convention" and lesson.status == "active"]
    facts = [lesson for lesson in known if is_usable(lesson)]
    beside = commands_beside(facts, told)
    unknown = [
        lesson
        for lesson in facts
        if lesson.id not in told and lesson.use not in beside and not was_run(lesson, place.ran)
    ]
    has_checks = knows_all_checks(facts, told)
    candidates = [
        lesson for lesson in unknown if not is_common(lesson) and not (has_checks and lesson.topic in _SAID_ONCE)
    ]
    known_checks = _known_purposes(facts, told, place.ran)
    found = choose_for_needs(candidates, command, place) if command else None
    if found is None and command:
        has_hook = any(lesson.topic == "hook" and lesson.details.get("about") == "commit" for lesson in facts)
        found = (
            choose_for_version_control(candidates, command, has_hook, place, known_checks)
            or _choose_for_purpose(candidates, command, place)
            or _choose_for_server(candidates, facts, command, place)
        )
    own = [path for path in changed if not is_outside(path)]
    if found is None and own:
        done = [
            lesson
            for lesson in facts
            if lesson.id in told
            or lesson.use in beside
            or was_run(lesson, place.ran)
            or (has_checks and lesson.details.get("about") in ONE_CASE)
        ]
        checks = [lesson for lesson in unknown if not (has_checks and lesson.topic in CUSTOMS)]
        placements = [lesson for lesson in known if lesson.id not in told and lesson.topic == "placement"]
        found = choose_for_new_file(placements, place) or choose_for_change(
            candidates, own, done, known_checks, place, checks
        )
    return found


def _for_change(lesson: Lesson) -> Lesson:
    """A fact as a session that works on the code needs it, whatever sessions that only read did."""
    if lesson.need is None or lesson.need <= (lesson.reach or 0.0):
        return lesson
    return msgspec.structs.replace(lesson, reach=lesson.need)


_SAID_ONCE = frozenset(["release", "pull_request"])
"""Customs that are said with the checks, and of which a call does not show whether it forgets them."""
_ALL_CHECKS = frozenset(["test", "lint", "typecheck", "build", "format"])
"""What a command for all checks runs; it looks at the format too."""


def _known_purposes(facts: Iterable[Lesson], told: frozenset[str], ran: Iterable[str]) -> frozenset[str]:
    """Topics of the checks of the whole that a session was told of or has run."""
    lessons = list(facts)
    if knows_all_checks(lessons, told):
        return frozenset(SUMMED_UP)
    of_told = {
        topic
        for lesson in lessons
        if lesson.id in told and (is_whole(lesson) or lesson.topic == "format")
        for topic in (lesson.topic, *map(purpose_of_command, lesson.details.get("body", "").split(" && ")))
    }
    known = of_told.union(purpose_of_command(piece.text) for each in ran for piece in split_pieces(each))
    has_all = "check" in known or any(lesson.topic == "check" and was_run(lesson, ran) for lesson in lessons)
    return frozenset(known | _ALL_CHECKS if has_all else known)


def _choose_for_server(
    candidates: Sequence[Lesson], facts: Iterable[Lesson], command: str, place: Place
) -> Lesson | None:
    """What starts the server that a command asks, by its port, where nothing answers there."""
    ports = {found["port"] for found in _LOCAL_PORT.finditer(command[:MOST_TEXT])}
    if not ports or any(map(place.listens, ports)):
        return None
    starting = [lesson for lesson in candidates if lesson.topic == "serve"]
    if any(lesson.use.rpartition("&& ")[2] in command for lesson in starting):
        return None  # it starts one itself
    for lesson in starting:
        if not ports.isdisjoint({lesson.details.get("port", ""), *lesson.details.get("ports", "").split(",")} - {""}):
            return lesson
    has_port = any(lesson.details.get("port") for lesson in facts if lesson.topic == "serve")
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
        and not has_open_place(lesson)
        and (lesson.reach or 0.0) >= _LEAST_REACH
    ]
    if not usual or is_away(command, place):
        return None
    usual.sort(key=lambda lesson: (-lesson.support.sessions_for, -(lesson.reach or 0.0), lesson.id))
    for piece in split_pieces(command):
        if piece.moved or place.folder or ARGUMENT.search(piece.text) or _is_script(piece):
            continue
        purpose = purpose_of_command(piece.text)
        first = next((lesson for lesson in usual if lesson.topic == purpose), None)
        if first is not None and not _is_same(piece.text, first) and _runs_the_same(piece, first):
            return first
    return None


def _is_script(piece: Piece) -> bool:
    """Whether what is typed is one of the project's own scripts."""
    if "/" in piece.words[0] or (piece.words[0] in _SHELLS and len(piece.words) > 1):
        return True
    return piece.words[0] in _TASK_RUNNERS and not _starts_program(piece.words)


_SHELLS = frozenset(["sh", "bash", "zsh"])


def _starts_program(words: Sequence[str]) -> bool:
    """Whether a runner of scripts is told to start a program: `pnpm exec tsc`."""
    return len(words) > 1 and words[1] in ("exec", "x", "dlx", "--")


def _runs_the_same(piece: Piece, lesson: Lesson) -> bool:
    """Whether a fact's command may stand for what is typed: the same program, or a task that runs the like of it."""
    program, body = lesson.use.split()[0], lesson.details.get("body", "")
    if is_of_formatter(piece.text) != is_of_formatter(body or lesson.use):
        return False
    if tool_of(lesson.use) == tool_of(piece.text):
        return True
    if program in RUNNERS and tool_of(piece.text) in _OF_OTHERS:
        return False
    is_task = program in _TASK_RUNNERS and not _starts_program(lesson.use.split())
    return is_task and (not body or is_of_one_language(piece.text, lesson))


def _is_same(typed: str, lesson: Lesson) -> bool:
    """Whether a command is that of a fact, or what its script runs, however it is started and its words are ordered."""
    keys = [command_key(_run_by(each)) for each in (lesson.use, lesson.details.get("body", "")) if each]
    own = command_key(_run_by(typed))
    return any(own.startswith(key) or key.startswith(own) or set(key.split()) <= set(own.split()) for key in keys)


def _run_by(command: str) -> str:
    """A command without what starts its tool and without the places that it is run on: `vitest run` of `npx vitest run src`."""
    words, tool = command.split(), tool_of(command)
    begin = next((place for place, word in enumerate(words) if word.rpartition("bin/")[2] == tool), 0)
    return " ".join(word for word in words[begin:] if not _PLACE.match(word))


_PLACE = re.compile(r"\.$|\./|[\w.-]+/")
