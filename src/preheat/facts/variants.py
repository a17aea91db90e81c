"""What is said beside a check in one line: how one case of it is run, what mends by itself, the commands for its parts. Pure."""

import re
from collections.abc import Iterable, Sequence

import msgspec

from preheat.facts.fitness import (
    PACKAGE_RUNNERS,
    folder_of_command,
    is_common,
    is_of_one_language,
    is_whole,
    tool_of,
)
from preheat.model.lesson import Lesson

ONE_CASE = ("one test file", "one test")
_MOST_PARTS = 3
_LEAST_REACH, _USED = 0.1, 2
"""How likely a session needs the command for a part, and how many sessions used it, for it to be said."""


def with_variants(fact: Lesson, facts: Sequence[Lesson]) -> Lesson:
    """A check with how one case of it is run, or with what mends by itself, and with the commands for its parts."""
    details = dict(fact.details)
    one = _find_one(fact, facts)
    if one is not None:
        details |= {"one": one.use, "one_about": one.details["about"]}
    parts = [each.use for each in _find_parts(fact, facts) if one is None or each.use != one.use]
    if parts:
        details["parts"] = "\n".join(parts[:_MOST_PARTS])
    return msgspec.structs.replace(fact, details=details)


def _find_one(fact: Lesson, facts: Sequence[Lesson]) -> Lesson | None:
    wanted = _VARIANTS.get(fact.topic, ())
    tools = _tools_of(fact)
    fitting = [
        each
        for each in facts
        if each.details.get("about") in wanted
        and each.topic == fact.topic
        and each.details.get("package", "") == fact.details.get("package", "")
        and fact.use not in (each.use, each.details.get("body", ""))
        and (not tools.isdisjoint(_tools_of(each)) or (_is_likely(each) and fact.topic == "test") or _mends(each, fact))
    ]
    return min(
        fitting,
        key=lambda each: (
            tools.isdisjoint(_tools_of(each)),
            bool(folder_of_command(each)),
            -each.support.sessions_for,
            wanted.index(each.details["about"]),
            each.id,
        ),
        default=None,
    )


_VARIANTS = {"test": ONE_CASE, "lint": ("lint, with fixes",)}


def _is_likely(one: Lesson) -> bool:
    return bool(one.support.sessions_for) or (not is_common(one) and bool(one.details.get("main")))


def _mends(other: Lesson, fact: Lesson) -> bool:
    """Whether a script is called like that of a check, with `fix` behind it."""
    return re.fullmatch(rf"{re.escape(fact.use)}[:._-]fix", other.use) is not None


def _tools_of(fact: Lesson) -> set[str]:
    """The tools that a check runs in the end; what only runs scripts is none."""
    return {tool_of(each) for each in (fact.use, fact.details.get("body", "")) if each} - PACKAGE_RUNNERS


def _find_parts(fact: Lesson, facts: Sequence[Lesson]) -> list[Lesson]:
    """The project's other commands for the same check that several sessions use: of one of its parts, or with another tool."""
    own = _tools_of(fact)
    found = [
        each
        for each in facts
        if each.topic == fact.topic
        and each.details.get("about", each.topic) == each.topic
        and each.id != fact.id
        and not is_common(each)
        and each.support.sessions_for >= _USED
        and (each.reach or 0.0) >= _LEAST_REACH
        and (is_whole(each) or (tool_of(each.use) not in own and each.use.endswith(" PATH")))
        and is_of_one_language(each.use, fact)
        and not _NAMES.search(each.use)
        and not _is_said_by(each, fact)
    ]
    return sorted(found, key=lambda each: (-each.support.sessions_for, each.id))


_NAMES = re.compile(r"\b(?:NAME|VALUE|TEXT)\b")


def _is_said_by(part: Lesson, fact: Lesson) -> bool:
    """Whether a check says already what another one would: it runs it, is run by it, or is the same with more options."""
    body = fact.details.get("body", "")
    return part.use in body or part.details.get("body", "") == fact.use or part.use.startswith(f"{fact.use} ")


def commands_beside(facts: Sequence[Lesson], told: Iterable[str]) -> set[str]:
    """The commands that were said beside checks of which a session was told, by their ids."""
    ids = set(told)
    found: set[str] = set()
    for fact in facts:
        if fact.id in ids and fact.topic in _VARIANTS:
            details = with_variants(fact, facts).details
            found |= {details.get("one", ""), *details.get("parts", "").split("\n")}
    return found - {""}
