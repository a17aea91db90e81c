"""How a change is made in the project, in one line, for the moment when code is changed first: its checks, and how it comes in.
Pure; knows no wording."""

import re
from collections.abc import Iterable, Sequence

import msgspec

from preheat.facts.checks import NO_CHECK, command_key
from preheat.facts.customs import OFTEN, are_worth_a_line, details_of_customs, find_customs
from preheat.facts.fitness import WANTS_CLEAN, fits, is_common, is_main, is_of_formatter, is_whole
from preheat.facts.main_check import (
    ENOUGH,
    NEEDED,
    OPEN_PLACE,
    find_main_check,
    find_program_folder,
    has_open_place,
    is_custom_of_most,
    without_starter,
)
from preheat.facts.values import MOVED
from preheat.facts.variants import with_variants
from preheat.model.lesson import Lesson, Scope, Support, lesson_id

SUMMED_UP = ("check", "test", "lint", "typecheck", "build", "format")
"""Topics of the checks of a project, the most telling first."""
_MOST_OTHERS = 2
_MOST_COMMON = 3
"""Checks that a language has for everybody, in one line: that, and which of them, belongs to a change here."""


def summary_id(project: str) -> str:
    """The id of the line on all checks of a project, whichever it names."""
    return lesson_id("convention", Scope(project=project), "checks")


def knows_all_checks(facts: Sequence[Lesson], told: frozenset[str]) -> bool:
    """Whether a session was told of the project's checks together."""
    return any(summary_id(fact.scope.project) in told for fact in facts[:1])


def summarise_checks(
    facts: Sequence[Lesson],
    files: Sequence[str] = (),
    known: frozenset[str] = frozenset(),
    stated: frozenset[str] = frozenset(),
) -> Lesson | None:
    """One fact for the checks of the project that fit some files and whose topics are not known, each with how one case of it is
    run or what mends by itself, and for how a change comes in; the only one by itself, None where there is none. `stated`:
    topics of which a file states another command: only what most sessions run beside that is said."""
    grounded = [each for each in _with_use_of_tools(facts) if is_grounded(each)]
    unfound = _find_unfound(facts)
    fitting = [each for each in grounded if _is_fit_for(each, files) and _program_of(each) not in unfound]
    parts = [
        best
        for topic in SUMMED_UP
        if topic not in known
        and (best := _find_check_of(fitting, topic, files)) is not None
        and (topic not in stated or is_custom_of_most(best))
    ]
    checks = _without_repeats([with_variants(each, grounded) for each in parts], known | stated)
    return join_checks(checks, find_customs(facts), _find_other_tests(fitting, checks))


def _is_fit_for(fact: Lesson, files: Sequence[str]) -> bool:
    """Whether a fact may be said as a check of a change of some files, by what it is called, looks at and asks for."""
    return (
        fits(fact, files)
        and not NO_CHECK.search(fact.use.rpartition(" ")[2])
        and not fact.details.get(WANTS_CLEAN)
        and _is_run_around(fact, files)
        and not _is_of_other_program(fact, files)
    )


def _program_of(fact: Lesson) -> str:
    return fact.use.rpartition("&& ")[2].partition(" ")[0]


def is_grounded(lesson: Lesson) -> bool:
    """Whether a linter, a formatter or a check of types was run by a session or stands in a script: that a file configures one
    does not say that it is used, installed, or passes."""
    is_implied = bool(lesson.details.get("implied")) and not lesson.support.sessions_for
    return not (is_implied and lesson.topic in ("lint", "format", "typecheck"))


def _find_unfound(facts: Iterable[Lesson]) -> frozenset[str]:
    """Programs that the shells of several sessions did not find, and nobody found elsewhere: a check by their names would not
    run."""
    return frozenset(
        name
        for fact in facts
        if fact.topic == "missing" and fact.support.sessions_for >= ENOUGH and not fact.use
        if (name := fact.details.get("name", ""))
    )


def _is_run_around(fact: Lesson, files: Sequence[str]) -> bool:
    """Whether a command that goes to a folder first goes to one around some of the files."""
    moved = MOVED.match(fact.use)
    return moved is None or not files or any(path.startswith(f"{moved['folder'].rstrip('/')}/") for path in files)


def _is_of_other_program(fact: Lesson, files: Sequence[str]) -> bool:
    """Whether a build makes one program of several, and the files are those of another one beside it."""
    parent, _, name = find_program_folder(fact).rpartition("/") if fact.topic == "build" else ("", "", "")
    beside = [f"/{path}".partition(f"/{parent}/")[2] for path in files if parent and f"/{parent}/" in f"/{path}"]
    return bool(beside) and not any(path.startswith(f"{name}/") for path in beside)


def _find_check_of(facts: Sequence[Lesson], topic: str, files: Sequence[str]) -> Lesson | None:
    """The check of the package that all the files lie in, else that of the project, else what the language has for everybody if
    sessions run it here."""
    of_topic = [fact for fact in facts if fact.topic == topic]
    packages = [fact for fact in of_topic if files and _is_check_of_package(fact, files)]
    main = find_main_check([fact for fact in of_topic if not _only_formats(fact)], topic)
    own = max(
        packages, key=lambda each: (len(each.details["package"]), each.support.sessions_for, each.id), default=None
    )
    whole = main if main is not None and not has_open_place(main) else None
    return (own or whole if topic in _BY_PACKAGE else whole or own) or _find_common(of_topic)


def _with_use_of_tools(facts: Sequence[Lesson]) -> list[Lesson]:
    """The facts, linters of the whole that no session ran with what sessions show of them on single folders."""
    linters = [fact for fact in facts if fact.topic == "lint" and fact.support.sessions_for]
    if any(fact.topic == "lint" and fact.details.get("main") and not fact.details.get("implied") for fact in facts):
        return list(facts)  # the project's own task is its linter
    return [_with_use_of_tool(fact, linters) for fact in facts]


def _with_use_of_tool(fact: Lesson, linters: Sequence[Lesson]) -> Lesson:
    if fact.topic != "lint" or fact.support.sessions_for or not is_whole(fact):
        return fact
    alike = [other for other in linters if _runs_in_parts(other, fact)]
    best = max(alike, key=lambda other: other.support.sessions_for, default=fact)
    return msgspec.structs.replace(fact, support=best.support, reach=max(fact.reach or 0.0, best.reach or 0.0))


def _runs_in_parts(part: Lesson, fact: Lesson) -> bool:
    plain, rest = fact.use.removesuffix(" ./..."), part.use[len(fact.use.removesuffix(" ./...")) :]
    return part.use.startswith(f"{plain} ") and OPEN_PLACE.search(rest) is not None


def _only_formats(fact: Lesson) -> bool:
    """Whether a linter only says which files a formatter would change, or a check of types writes what it compiles."""
    command = fact.details.get("body", "") or fact.use
    if fact.topic == "typecheck":
        return _COMPILING.search(command) is not None
    return fact.topic == "lint" and is_of_formatter(command)


_COMPILING = re.compile(r"(?:^|\s)tsc$")


def _is_check_of_package(fact: Lesson, files: Sequence[str]) -> bool:
    package = fact.details.get("package", "")
    is_below = bool(package) and all(path.startswith(f"{package}/") for path in files)
    is_plain = is_main(fact) and is_whole(fact) and _OPEN_NAME.search(fact.use) is None
    return is_below and is_plain and not _only_formats(fact)


def _find_common(facts: Sequence[Lesson]) -> Lesson | None:
    used = [
        fact
        for fact in facts
        if is_common(fact)
        and is_whole(fact)
        and not _only_formats(fact)
        and not fact.details.get("package")
        and fact.support.sessions_for >= ENOUGH
        and (fact.reach or 0.0) >= NEEDED
    ]
    return min(used, key=lambda fact: (-fact.support.sessions_for, fact.id), default=None)


def _find_other_tests(facts: Iterable[Lesson], checks: Sequence[Lesson]) -> list[str]:
    """Tests of other sorts that many sessions run beside the usual one."""
    if not any(check.topic in ("check", "test") for check in checks):
        return []
    bodies = [check.details.get("body", "") for check in checks]
    said = {_key_of(part) for text in bodies for part in (text, *text.split("&&"))}
    said |= {_key_of(text) for check in checks for text in (check.use, check.details.get("one", ""))}
    found = [
        fact
        for fact in facts
        if fact.topic == "test"
        and _key_of(fact.use) not in said
        and is_whole(fact)
        and not is_common(fact)
        and not has_open_place(fact)
        and not fact.details.get("package")
        and fact.support.sessions_for > ENOUGH
        and (fact.reach or 0.0) >= OFTEN
    ]
    return [fact.use for fact in sorted(found, key=lambda each: -each.support.sessions_for)[:_MOST_OTHERS]]


def _key_of(command: str) -> str:
    """A command however it is started: `go test ./...` of `mise exec -- go test ./...`."""
    return without_starter(command_key(command.strip()))


def join_checks(parts: Sequence[Lesson], customs: Sequence[Lesson] = (), others: Sequence[str] = ()) -> Lesson | None:
    """One fact for several checks and customs; the only one by itself, None where there is none or everybody would type it."""
    is_tested = any(part.topic in ("check", "test") for part in parts)
    has_own = any(not is_common(part) for part in parts) or (len(parts) > 1 and is_tested)
    if not has_own and not are_worth_a_line(customs):
        return None
    if len(parts) == 1 and not customs and not others:
        return parts[0]
    if all(map(is_common, parts)):
        parts = parts[:_MOST_COMMON]
    first = [*parts, *customs][0]
    details = {"about": "checks", "topics": ",".join(each.topic for each in (*parts, *customs))}
    for each in parts:
        details[each.topic] = each.use
        details |= {f"{each.topic}_{name}": text for name in _BESIDE if (text := each.details.get(name, ""))}
        if _tells_parts(each):
            details[f"{each.topic}_body"] = each.details["body"]
    if others:
        details["others"] = "\n".join(others)
    details |= details_of_customs(customs)
    project = first.scope.project
    return Lesson(
        id=summary_id(project),
        kind="convention",
        scope=Scope(project=project),
        topic="checks",
        text="",
        use=first.use,
        details=details,
        support=Support(sessions_for=max(each.support.sessions_for for each in (*parts, *customs))),
        score=max(each.score for each in (*parts, *customs)),
        reach=max(each.reach or 0.0 for each in (*parts, *customs)),
    )


def _tells_parts(fact: Lesson) -> bool:
    """Whether what a check runs are several of the project's tasks, each worth knowing by itself."""
    body = fact.details.get("body", "")
    return fact.topic in _WITH_PARTS and len(body) <= _LONGEST_BODY and len(_TASK.findall(body)) > 1


_WITH_PARTS = frozenset(["check", "test", "lint"])
_LONGEST_BODY = 120
_TASK = re.compile(r"(?:^|&& )(?:npm|pnpm|yarn|bun|make|just|mise|task|deno|poe|hatch|composer)(?: run| task)? \S+")
_BY_PACKAGE = frozenset(["test", "typecheck"])
"""Checks that are made of the package alone where a change lies in one."""
_OPEN_NAME = re.compile(r"\b(?:NAME|PATH|FOLDER|TEXT)\b")
"""A place that has to be filled before a command can be typed; the value of an option is the machine's."""
_BESIDE = ("one", "one_about", "package")
"""Details of a check that are said with it."""


def _without_repeats(parts: list[Lesson], known: frozenset[str]) -> list[Lesson]:
    """The checks, each command once and none that another one runs, and not a build that no session makes where something tells
    more: a test builds what it tests."""
    bodies = " && ".join(part.details.get("body", "") for part in parts if part.topic == "check")
    ran = {command_key(each) for each in bodies.split("&&")} - {""}
    is_told = not known.isdisjoint(("check", "test", "typecheck"))
    return [
        part
        for place, part in enumerate(parts)
        if (command_key(part.use) not in ran or part.details.get("one"))
        and all(part.use != other.details.get("body", "") for other in parts)
        and all(part.use != other.use for other in parts[:place])
        and not (
            part.topic == "build"
            and part.support.sessions_for < ENOUGH
            and (is_told or any(each.topic in ("check", "test", "typecheck") for each in parts))
        )
    ]
