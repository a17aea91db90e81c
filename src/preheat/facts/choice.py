"""Which facts a prompt asks for, by its words and files. Pure; knows no wording."""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import takewhile
from typing import NamedTuple

from preheat.commands.words import name_set
from preheat.facts.asking import Asked, read_prompt
from preheat.facts.checks import CHECK_TOPICS
from preheat.facts.customs import CUSTOMS
from preheat.facts.fitness import (
    folder_of_command,
    is_agreed,
    is_common,
    is_main,
    is_usable,
    is_whole,
    tool_of,
    was_run,
)
from preheat.facts.main_check import find_main_check
from preheat.facts.summary import SUMMED_UP, knows_all_checks
from preheat.facts.values import FACT_TOPICS
from preheat.facts.variants import commands_beside, with_variants
from preheat.lesson_meaning import is_usual_pull_request
from preheat.model.lesson import Lesson

_MADE = frozenset(["branch", "pull_request"])
_COMMANDS = frozenset(["test", "build", "lint", "typecheck", "format", "serve", "generate"])
"""Topics of commands of which a project has many: only the usual one is said unless another is named."""
_MEANT = {
    "endpoint": ("api", "openapi"),
    "endpoints": ("api", "openapi"),
    "database": ("db",),
    "docs": ("documentation",),
    "migrations": ("migration", "migrate"),
}
"""Words of prompts, and those that names of scripts have for them."""
_FORGE = ", as the forge runs it"
_GENERIC = name_set(
    "dev start watch clean build test lint run app all main prod fix name path folder value package version key file files"
    " list code types local check ci web src lib preview"
)
"""Parts of a script's name, and our placeholders, that any prompt may have."""
_VARYING = re.compile(r"^-|\b(?:NAME|PATH|FOLDER|PACKAGE|VALUE)\b|^\.{1,2}/")
_IDLE = name_set("the a an to of in on for and or it is this that run with all not new")
_MOST = 6
_MANY = 3
"""Kinds of checks that a prompt names, from which on it means all of them."""
_MAIN = 0.35
"""The reach from which a check is one for everybody."""
_NEEDED = 0.1
"""The reach below which a command of the tree alone is said only by its name: so many sessions went by without it."""
_ORDER = {topic: place for place, topic in enumerate(FACT_TOPICS)}


class Choice(NamedTuple):
    """A fact with how much a prompt asks for it, 0 to 1."""

    lesson: Lesson
    asked: float


def choose_for_prompt(
    lessons: Sequence[Lesson],
    prompt: str,
    files: Sequence[str] = (),
    told: frozenset[str] = frozenset(),
    stated: frozenset[str] = frozenset(),
    ran: Sequence[str] = (),
) -> list[Choice]:
    """The facts that a prompt asks for, the most asked first: by its topics and by names of scripts in it. What is needed only
    when files are changed waits for that (`change_choice`). `files`: those that the prompt is likely about; `told`: ids of
    lessons that the session has been told; `stated`: topics of the checks of which the agent reads a command by itself;
    `ran`: checks that the session ran."""
    asked = read_prompt(prompt)
    plain = " ".join(prompt[:_MOST_READ].split())
    named = frozenset(_TESTERS.findall(asked.text))
    facts = [
        lesson
        for lesson in lessons
        if lesson.kind == "convention" and lesson.topic in _ORDER and is_usable(lesson) and not is_common(lesson)
    ]
    beside = commands_beside(facts, told) | {lesson.use for lesson in facts if lesson.id in told and lesson.use}
    if knows_all_checks(facts, told):
        facts = [fact for fact in facts if fact.topic not in (*SUMMED_UP, *CUSTOMS) or fact.details.get("package")]
    rated = [
        Choice(lesson, _rate(lesson, asked, files))
        for lesson in facts
        if lesson.id not in told
        and not _has_command(plain, lesson.use)
        and not was_run(lesson, ran)
        and not _is_of_other_tester(lesson, named)
        and not _is_of_tool_to_go(lesson, plain)
        and beside.isdisjoint({lesson.use, lesson.details.get("body", "")} - {""})
        and not _is_stated_otherwise(lesson, stated, asked)
        and not (_OF_PACKAGE.search(lesson.use) and _has_whole(lesson.topic, facts, stated))
    ]
    known = {_purpose_of(lesson) for lesson in facts if lesson.id in told}
    of_packages = {lesson.use for lesson in facts if lesson.details.get("package")}
    own = {lesson.topic for lesson in facts if not _is_of_forge(lesson)}
    found = [
        each
        for each in rated
        if each.asked > 0
        and not (_is_of_forge(each.lesson) and each.lesson.topic in own)
        and each.lesson.details.get("body") not in of_packages  # the package's own command says it
    ]
    found = _without_wholes_of_packages(found)
    found.sort(
        key=lambda each: (
            -round(each.asked, 2),
            _ORDER[each.lesson.topic],
            not each.lesson.details.get("path"),
            -each.lesson.support.sessions_for,
            each.lesson.id,
        )
    )
    chosen = _with_all_checks_as_one(_without_crowds(found, asked, known), facts, asked)[:_MOST]
    return _with_variants(chosen, facts)


def _without_wholes_of_packages(choices: list[Choice]) -> list[Choice]:
    """What a prompt asks for, where it asks for the check of one package without that of the whole."""
    topics = {each.lesson.topic for each in choices if each.lesson.details.get("package")} & CHECK_TOPICS
    return [each for each in choices if each.lesson.topic not in topics or each.lesson.details.get("package")]


def _with_variants(chosen: list[Choice], facts: Sequence[Lesson]) -> list[Choice]:
    """What a prompt asks for, checks of the whole with their variants."""
    found = [
        Choice(with_variants(each.lesson, facts), each.asked) if _is_main_check(each.lesson) else each
        for each in chosen
    ]
    details = [each.lesson.details for each in found]
    variants = {each.get("one", "") for each in details}.union(
        *(each.get("parts", "").split("\n") for each in details)
    ) - {""}
    return [each for each in found if each.lesson.use not in variants]


def _has_command(prompt: str, command: str) -> bool:
    """Whether a command stands in a prompt: who asks for work on it knows it."""
    return " " in command and (command in prompt or command.replace(" run ", " ", 1) in prompt)


_MOST_READ = 20_000
_TESTERS = re.compile(r"\b(?:playwright|cypress|selenium|puppeteer|storybook|maestro|detox|appium|e2e|end-to-end)\b")
"""Tools and kinds of tests that a prompt may ask for."""


_REPLACING = re.compile(
    r"(?i)\b(?:replac(?:e|ing)|migrat(?:e|ing)|switch(?:ing)?|mov(?:e|ing)|remov(?:e|ing)|drop|get rid of)\b"
)


def _is_of_tool_to_go(lesson: Lesson, prompt: str) -> bool:
    """Whether a prompt names the tool of a check among what it wants to be replaced."""
    tool = tool_of(lesson.details.get("body", "") or lesson.use)
    return len(tool) > 2 and _REPLACING.search(prompt) is not None and tool in prompt.lower()


def _is_of_other_tester(lesson: Lesson, named: frozenset[str]) -> bool:
    """Whether a test is another one than that of the tool that a prompt names."""
    command = f"{lesson.use} {lesson.details.get('body', '')}".lower()
    return bool(named) and lesson.topic == "test" and not any(each in command for each in named)


def _is_main_check(lesson: Lesson) -> bool:
    return lesson.topic in CHECK_TOPICS and is_whole(lesson) and bool(lesson.details.get("main"))


def _with_all_checks_as_one(choices: list[Choice], facts: Sequence[Lesson], asked: Asked) -> list[Choice]:
    """Where a prompt names many checks: the command that runs all of them instead of each, if there is one."""
    whole = [each for each in facts if each.topic == "check" and is_whole(each) and is_main(each)]
    if not whole or len(asked.topics & CHECK_TOPICS) < _MANY:
        return choices
    best = min(whole, key=lambda each: (-each.support.sessions_for, each.id))
    others = [each for each in choices if each.lesson.topic not in CHECK_TOPICS and each.lesson.topic != "check"]
    return [Choice(best, max(each.asked for each in choices)), *others] if choices else []


def _has_whole(topic: str, facts: Sequence[Lesson], stated: frozenset[str]) -> bool:
    """Whether there is a check of the whole for a topic, known or stated: that of any package adds nothing to it."""
    return topic != "test" and (topic in stated or find_main_check(facts, topic) is not None)


def _is_stated_otherwise(lesson: Lesson, stated: frozenset[str], asked: Asked) -> bool:
    """Whether a check is one of which the agent reads another command by itself; that of a package, or one that the prompt calls
    by its name, is said all the same."""
    is_check = lesson.topic in stated and lesson.topic in CHECK_TOPICS and not lesson.details.get("package")
    return is_check and lesson.details.get("about", lesson.topic) == lesson.topic and not _is_called(lesson, asked.text)


def _is_of_forge(lesson: Lesson) -> bool:
    return lesson.details.get("about", "").endswith(_FORGE)


def _rate(lesson: Lesson, asked: Asked, files: Sequence[str]) -> float:
    """How much a prompt asks for a fact, 0 to 1."""
    topic, details = lesson.topic, lesson.details
    package, reach = details.get("package", ""), lesson.reach or 0.0
    about = details.get("about", topic)
    path = details.get("path", "").rstrip("/")
    if topic == "generate" and path and any(each == path or each.startswith(f"{path}/") for each in files):
        return 0.95
    has_files = bool(package) and any(path.startswith(f"{package}/") for path in files[:5])
    if package and not (has_files or _names_package(package, asked.words)):
        return 0.0
    place = folder_of_command(lesson) if reach < _MAIN else ""
    if place and not (any(path.startswith(f"{place}/") for path in files[:5]) or _names_package(place, asked.words)):
        return 0.0
    is_called = _is_called(lesson, asked.text) or (
        topic in asked.topics and topic != "generate" and _named_share(lesson, asked.words) == 1.0
    )
    if topic == "serve" and "serve" not in asked.topics and not _STARTING.search(asked.text):
        return 0.0
    if topic == "script":
        return 0.7 if is_called else 0.0
    if topic == "variable":
        is_open = about not in ("defaults", "secrets")  # these are set already, or elsewhere
        return 0.7 if (is_open and "setup" in asked.topics) or _names_variable(lesson, asked.text) else 0.0
    is_own = has_files or (topic in asked.topics and _is_plain(lesson)) or _names_package(package, asked.words, least=2)
    if _is_unneeded(lesson) and not is_own and not is_called:
        return 0.0
    if topic in _MADE and (is_usual_pull_request(lesson) or not is_agreed(lesson)):
        return 0.0
    if topic == "hook" and about != "commit" and not (about == "push" and "push" in asked.words):
        return 0.0  # the form of messages is said in words of its own
    if topic in asked.topics:
        return _rate_asked(lesson, asked, is_called)
    if is_called and topic in _COMMANDS:
        return 0.6
    is_meant = topic == "generate" and asked.makes and not asked.words.isdisjoint(_MEANT)
    return 0.6 if is_meant and _named_share(lesson, asked.words) >= 0.5 else 0.0


def _rate_asked(lesson: Lesson, asked: Asked, is_called: bool) -> float:
    """How much a prompt that has a fact's topic asks for it: one of several variants only if it is called by its name, how one
    case is run only where one is spoken of."""
    topic, details = lesson.topic, lesson.details
    about = details.get("about", topic)
    if about in _ONE and (asked.words.isdisjoint(_SINGLE) or lesson.support.sessions_for < _MUCH_USED):
        return 0.0
    if about == "lint, with fixes" and not _names_kind(lesson, asked.words):
        return 0.0
    is_used = details.get("main") or lesson.support.sessions_for > 1
    if topic in _COMMANDS and not (is_used or is_called or _is_plain(lesson) or about in _ONE):
        return 0.0
    if topic == "generate" and not is_called and not _named_share(lesson, asked.words):
        return 0.0
    is_first = about in ("run", "commit", "message") or (is_whole(lesson) if topic in _COMMANDS else about == topic)
    return (0.9 if is_first else 0.75) + 0.1 * min(1.0, lesson.reach or 0.0)


_STARTING = re.compile(r"\b(?:run|start|launch|serve|boot)\b")
_ONE = ("one test", "one test file")
_SINGLE = name_set("one single only alone file case individual just specific")


@lru_cache(maxsize=512)
def _call_of(name: str) -> "re.Pattern[str]":
    """How a script is called by its name: a name of several parts by itself, one word after what runs it or in quotes."""
    parts = [re.escape(part.lower()) for part in re.split(r"[^A-Za-z0-9]+", name) if part]
    joined = r"[\s:._/-]{1,2}".join(parts)
    if len(parts) > 1:
        return re.compile(rf"(?<![\w-]){joined}(?![\w-])")
    return re.compile(rf"(?:\b(?:run|make|just|task|npm|pnpm|yarn|bun)\s+`?|`){joined}(?![\w-])")


def _is_called(lesson: Lesson, text: str) -> bool:
    """Whether the sentences of a prompt that ask for work call a script by its name."""
    name = lesson.details.get("name", "") or lesson.use.rpartition(" ")[2]
    return bool(re.search(r"[A-Za-z]{2}", name)) and _call_of(name).search(text) is not None


def _names_variable(lesson: Lesson, text: str) -> bool:
    """Whether a prompt names a variable; a name of one word is a word of any sentence."""
    names = [name for name in lesson.details.get("names", "").lower().split(",") if "_" in name]
    return any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) for name in names)


def _is_unneeded(lesson: Lesson) -> bool:
    """Whether a command stands in the tree and session after session went by without it."""
    is_counted = lesson.topic in CHECK_TOPICS or lesson.topic == "check"
    return is_counted and not lesson.support.sessions_for and (lesson.reach or 0.0) < _NEEDED


def _is_plain(lesson: Lesson) -> bool:
    """Whether a command is the project's task of the very name: `make lint`."""
    return bool(lesson.use) and lesson.use.split()[-1] == lesson.topic and not lesson.details.get("package")


def _names_kind(lesson: Lesson, words: frozenset[str]) -> bool:
    """Whether a prompt names of what a script mends things, if its name says that: `lint:md:fix`."""
    parts = {part.lower() for part in re.split(r"[^A-Za-z0-9]+", lesson.use.rpartition(" ")[2]) if part}
    return parts - {"lint", "fix", "run", "write"} <= words or not parts & {"lint", "fix"}


def _shape_of(lesson: Lesson) -> tuple[str, ...]:
    """A command without what differs from case to case: `go test … -run NAME` is one, however it is typed; empty for what has
    none."""
    if lesson.topic not in ("test", "build", "lint") or not lesson.use:
        return ()
    begun = takewhile(lambda word: not _VARYING.search(word), lesson.use.split())
    return (lesson.topic, " ".join(begun), "one" if re.search(r"\bNAME\b", lesson.use) else "")


def _named_share(lesson: Lesson, words: frozenset[str]) -> float:
    """The share of the telling words of a script's name that a prompt has; 0 for a name without any."""
    name = lesson.details.get("name", "") or lesson.use.rpartition(" ")[2]
    parts = (
        {part.lower() for part in re.split(r"[^A-Za-z0-9]+", name) if len(part) > 2} - _IDLE - _GENERIC - {lesson.topic}
    )
    parts -= {part.lower() for part in re.split(r"[^A-Za-z0-9]+", lesson.scope.project)}
    meant = words | {other for word in words for other in _MEANT.get(word, ())}
    return len(parts & meant) / len(parts) if parts else 0.0


def _names_package(package: str, words: frozenset[str], least: int = 1) -> bool:
    """Whether a prompt has every word of the last part of a package's folder, if these are at least so many."""
    last = (
        {part.lower() for part in re.split(r"[^A-Za-z0-9]+", package.rpartition("/")[2]) if len(part) > 2}
        - _IDLE
        - _GENERIC
    )
    return len(last) >= least and last <= words


def _purpose_of(lesson: Lesson) -> tuple[str, str, str]:
    """What a fact's command is for: two commands for one purpose are one too many."""
    about = lesson.details.get("about", lesson.topic)
    if lesson.topic == "generate" and lesson.use:
        return lesson.topic, lesson.topic, ""
    if about == lesson.topic and _OF_PACKAGE.search(lesson.use):
        about = f"{about} of one package"
    return lesson.topic, about, lesson.details.get("package", "")


_OF_PACKAGE = re.compile(r"\bPACKAGE\b")
_MUCH_USED = 2
"""Sessions that used a second command for a purpose, for it to be said beside the first."""


def _without_crowds(choices: list[Choice], asked: Asked, known: set[tuple[str, str, str]]) -> list[Choice]:
    """Of several commands for one purpose the first: another one only if the prompt has its name, or several sessions used it and
    it is another program. `known`: purposes of which the session was told."""
    programs: dict[tuple[str, str, str], set[str]] = {purpose: set() for purpose in known}
    shapes: set[tuple[str, ...]] = set()
    commands: set[str] = set()
    kept = []
    for each in choices:
        lesson = each.lesson
        purpose, shape = _purpose_of(lesson), _shape_of(lesson)
        body = lesson.details.get("body", "")
        if shape in shapes or (lesson.use and not commands.isdisjoint((_bare(lesson.use), _bare(body)))):
            continue
        program = _program_of(lesson)
        is_other = program not in programs.get(purpose, set()) and (
            (lesson.support.sessions_for >= _MUCH_USED and is_whole(lesson))
            or (_is_plain(lesson) and (lesson.support.sessions_for > 0 or not programs.get(purpose)))
        )
        is_named = _is_called(lesson, asked.text) or _named_share(lesson, asked.words) == 1.0
        if (
            lesson.topic in _COMMANDS
            and purpose in programs
            and not (is_other or (is_named and lesson.topic != "generate"))
        ):
            continue
        programs.setdefault(purpose, set()).add(program)
        shapes |= {shape} if shape else set()
        commands |= {_bare(command) for command in (lesson.use, body) if command}
        kept.append(each)
    return kept


def _bare(command: str) -> str:
    """A command without what only starts its program."""
    return command.removeprefix("mise exec -- ")


def _program_of(lesson: Lesson) -> str:
    """The program that a fact's command runs in the end: `go` of `mise exec -- go test`."""
    words = _bare(lesson.use.rpartition("&& ")[2]).split()
    return words[0] if words else ""
