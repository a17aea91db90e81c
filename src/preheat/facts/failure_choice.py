"""Which fact names what a failed call lacked, and which one helps after a check that found something. Pure; knows no wording."""

import re
from collections.abc import Iterable, Sequence
from functools import partial

from preheat.facts.change_choice import is_below
from preheat.facts.fitness import fits, is_common, is_main, is_usable, tool_of
from preheat.model.lesson import Lesson

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


_ONE_CASE = re.compile(r"\s(?:\S*/\S+|\S+\.\w{1,4}|-k|-t|-run|--grep|NAME)(?:\s|$)")
"""A check of one file or one case: how that is done, the session knows."""
_ALL = re.compile(r"^\./\.\.\.$|^\.$")
_HELPS = {"test": ("one test", "one test file"), "lint": ("lint, with fixes", "format")}
"""By what a check was for, what helps after it found something: one case alone, or the program that mends by itself."""


def choose_after_check(
    lessons: Iterable[Lesson],
    purposes: Sequence[str],
    command: str,
    told: frozenset[str] = frozenset(),
    edited: Sequence[str] = (),
) -> Lesson | None:
    """The fact that helps after a check that found something: how one test is run, what mends by itself. `edited`: files that the
    session changed."""
    wanted = [about for purpose in purposes for about in _HELPS.get(purpose, ())]
    words = " ".join(word for word in command.split() if not _ALL.match(word))
    if not wanted or _ONE_CASE.search(f" {words} "):
        return None
    fitting = [
        lesson
        for lesson in lessons
        if lesson.kind == "convention"
        and lesson.details.get("about") in wanted
        and is_usable(lesson)
        and not is_common(lesson)
        and (lesson.topic == "test" or is_main(lesson))
        and fits(lesson, edited)
        and any(map(partial(is_below, lesson), edited or [""]))
    ]
    if any(lesson.id in told and lesson.details["about"] == wanted[0] for lesson in fitting):
        return None
    fitting.sort(
        key=lambda lesson: (
            tool_of(lesson.details.get("body", "") or lesson.use) not in command,
            wanted.index(lesson.details["about"]),
            -len(lesson.details.get("package", "")),
            -lesson.support.sessions_for,
            lesson.id,
        )
    )
    return next((lesson for lesson in fitting if lesson.id not in told), None)
