"""The main check of a project: of all commands for one purpose the one by which the whole is checked. Pure; knows no wording."""

import re
from collections.abc import Iterable, Mapping

import msgspec

from preheat.facts.fitness import folder_of_command, is_common, is_whole
from preheat.lesson_meaning import hardly_passes
from preheat.model.lesson import Lesson

ENOUGH = 2
"""Sessions that used a command, from which on it is the project's own way without a file that says so."""
NEEDED = 0.15
"""The reach below which a command is not said, because so many sessions went by without it."""
_NEEDED_IF_IMPLIED = 0.25
"""The same of what only a configuration implies."""
_MOST = 0.4
"""The reach from which a command is that of most sessions, whatever a file says."""


def find_main_check(facts: Iterable[Lesson], topic: str) -> Lesson | None:
    """The command by which the whole project is checked, which is not what everybody types; None if there is none."""
    of_topic = [fact for fact in facts if fact.topic == topic]
    typed: dict[str, Lesson] = {}
    for fact in sorted(of_topic, key=lambda each: each.support.sessions_for):
        if fact.support.sessions_for:
            typed[without_starter(fact.use)] = fact
    fitting = [
        fact
        for fact in (_with_use_of_body(each, typed) for each in of_topic)
        if is_whole(fact)
        and is_in_use(fact)
        and not hardly_passes(fact)
        and not is_common(fact)
        and not fact.details.get("package")
        and not folder_of_command(fact)
    ]
    if topic == "build":  # one program of several is not the project
        folders = {folder for fact in fitting if fact.support.sessions_for and (folder := find_program_folder(fact))}
        fitting = [fact for fact in fitting if len(folders) < 2 or not find_program_folder(fact)]
    return min(fitting, key=rank_of_check, default=None)


def _with_use_of_body(fact: Lesson, typed: Mapping[str, Lesson]) -> Lesson:
    """A script of the project with what sessions show of the command that it runs: they typed that in its place."""
    other = typed.get(without_starter(fact.details.get("body", "")))
    if other is None or other is fact or other.support.sessions_for <= fact.support.sessions_for:
        return fact
    passed = {"passed": other.details["passed"]} if "passed" in other.details else {}
    return msgspec.structs.replace(
        fact, support=other.support, reach=max(fact.reach or 0.0, other.reach or 0.0), details=fact.details | passed
    )


_STARTED = re.compile(
    r"^(?:npx|bunx|pnpx|(?:pnpm|yarn|bun|npm) (?:exec|x|dlx)|uv run|poetry run|mise (?:exec|x) --) (?=\w)"
)
_SHOWING = re.compile(r" --(?:pretty|color|colour)(?:[= ](?:true|false|always|never))?(?= |$)| --no-colou?r(?= |$)")


def without_starter(command: str) -> str:
    """A command without what starts its program and without how it shows what it found."""
    return _SHOWING.sub("", _STARTED.sub("", command))


_PROGRAM_FOLDER = re.compile(r"\s\./(?P<folder>[\w@-][\w.@/-]*?)/?(?=\s|$)")


def find_program_folder(fact: Lesson) -> str:
    """The folder of the one program that a build makes."""
    found = _PROGRAM_FOLDER.search(fact.use)
    return found["folder"] if found else ""


def is_in_use(fact: Lesson) -> bool:
    """Whether sessions use a command, or it is the project's own for its purpose: that sessions which only looked around went by
    without it says nothing. What only a configuration implies is used by somebody, unless there are too few sessions to tell."""
    if fact.support.sessions_for >= ENOUGH:
        return True
    if fact.topic == "build" and fact.details.get("implied"):  # a test builds what it tests
        return False
    least = _NEEDED_IF_IMPLIED if fact.details.get("implied") and not fact.support.sessions_for else NEEDED
    return bool(fact.details.get("main")) and (fact.reach or 0.0) >= least


def has_open_place(fact: Lesson) -> bool:
    """Whether a command stands for many that differ in what they name, so that it cannot be typed as it stands."""
    return OPEN_PLACE.search(fact.use) is not None


OPEN_PLACE = re.compile(r"\b(?:NAME|PATH|FOLDER|VALUE|TEXT)\b")


def rank_of_check(fact: Lesson) -> tuple[object, ...]:
    """The order of commands for one purpose: the project's plain task if any session used it, the most used, the likeliest."""
    used = fact.support.sessions_for
    is_plain = fact.use.rpartition(" ")[2] == fact.topic and used > 0
    return (
        has_open_place(fact),
        not is_plain,
        -used if used >= ENOUGH else 0,
        not fact.details.get("main"),
        -(fact.reach or 0.0),
        fact.use,
    )


def is_custom_of_most(fact: Lesson) -> bool:
    """Whether most sessions run a check, whatever a file says of its topic."""
    is_of_part = _OF_PART.search(fact.use) is not None
    return fact.support.sessions_for > ENOUGH and (fact.reach or 0.0) >= _MOST and not is_of_part


_OF_PART = re.compile(r"\s(?:test|build|lint)[:_-]\w+$")
"""A script for one of the parts: `npm run test:pr`."""
