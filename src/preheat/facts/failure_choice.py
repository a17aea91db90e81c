"""Which fact names what a failed call lacked, and which one helps after a check that found something. Pure; knows no wording."""

import re
from collections.abc import Iterable, Sequence
from functools import partial

from preheat.commands.words import name_set
from preheat.facts.change_choice import is_below
from preheat.facts.fitness import fits, folder_of_command, is_common, is_main, is_usable, tool_of
from preheat.facts.summary import is_grounded
from preheat.model.lesson import Lesson

_NO_MODULE = {
    "node": re.compile(
        r"(?i:module not found|cannot find (?:module|package)|err_module_not_found|node_modules missing)(?P<rest>.*)"
    ),
    "python": re.compile(r"(?i:no module named|modulenotfounderror)(?P<rest>.*)"),
    "ruby": re.compile(r"(?i:cannot load such file -- )(?P<rest>.*)"),
}
"""How a language says that a package is not installed; what is missing stands behind it."""
_PROGRAMS = {
    "python": name_set("python python3 pytest pip pip3 uv poetry mypy ruff tox nox"),
    "ruby": name_set("ruby bundle rspec rake rails"),
}
"""Programs whose message on a module is about their language, however it is worded."""
_INSTALLERS = {
    "node": re.compile(r"(?:^|\s)(?:npm|pnpm|yarn|bun) (?:install|i|ci)$"),
    "python": re.compile(r"(?:^|\s)(?:uv sync|poetry install|pdm install|pipenv install|pip install)\b"),
    "ruby": re.compile(r"(?:^|\s)bundle install$"),
}
"""By language, what installs its packages."""
_OWN_FILE = re.compile(r"^[\s:'\"`]*(?:\.{1,2}/|/|~|@/|PATH\b|[A-Za-z]:\\)")
"""A module by its path: a file of the project, which no installer brings."""
_NOT_FOUND = (
    re.compile(r"(?i:command not found): ([\w.+-]+)"),
    re.compile(r"([\w.+-]+): (?:command )?not found(?=\s*$)"),
)
_ASTRAY = re.compile(
    r"(?i)not found|could not find|cannot find|can't find|no such file|enoent|\bno \S+ found|does not contain"
)
_BRINGS_ITS_OWN = re.compile(
    r"\s--package[= ]|\bnpx\s+(?:-y|--yes)\b|\b(?:dlx|bunx|uvx)\b|\buv run --with\b"
    r"|\b(?:node|bun|deno|ruby)\s+(?:-e|--eval|-p|eval)\b|\bpython3?\s+-c\b|require\.resolve"
)
"""A command with packages that are not the project's, or one that only looks whether they are there."""
_MENTIONED = re.compile(r"[\w.+-]+")


def choose_after_failure(
    lessons: Iterable[Lesson], signature: str, told: frozenset[str] = frozenset(), command: str = ""
) -> Lesson | None:
    """The fact that names what a call lacked, by the message of its failure: modules that are not installed, a program that is
    started otherwise here, a variable, the folder of its project. `command`: what failed, where it is known."""
    lacks = _missing_program(signature)
    words = set(_MENTIONED.findall(command))
    language = _language_of(signature, words)
    if language and _BRINGS_ITS_OWN.search(command):
        language = ""
    is_inner = bool(lacks and command) and lacks not in words  # a script called it: packages that are not installed
    if is_inner and not language and words & {"npm", "pnpm", "yarn", "bun"}:
        language = "node"
    for lesson in lessons:
        if lesson.id in told or lesson.kind != "convention" or not is_usable(lesson):
            continue
        if lesson.topic == "setup" and language and _installs(lesson, language) and _brings(lesson, signature):
            return lesson
        if lesson.topic == "missing" and lacks and lesson.use and not is_inner and lacks in _names_of(lesson):
            return lesson
        if (
            lesson.topic == "variable"
            and lesson.details.get("about") != "secrets"
            and any(
                each and re.search(rf"\b{re.escape(each)}\b", signature)
                for each in lesson.details.get("names", "").split(",")
            )
        ):
            return lesson
        if lesson.topic == "folder" and _was_astray(lesson, signature, command):
            return lesson
    return None


def _missing_program(signature: str) -> str:
    found = next((found for pattern in _NOT_FOUND if (found := pattern.search(signature))), None)
    return found[1] if found else ""


def _language_of(signature: str, words: set[str]) -> str:
    """The language whose package was missing, by the message and the words of the command; empty where none was, or the module
    is a file of the project."""
    for language, pattern in _NO_MODULE.items():
        found = pattern.search(signature)
        if found and not _OWN_FILE.match(found["rest"]):
            return next((each for each, programs in _PROGRAMS.items() if words & programs), language)
    return ""


def _installs(lesson: Lesson, language: str) -> bool:
    """Whether a set-up installs the packages of a language for the whole project."""
    is_whole = not lesson.details.get("package") and "&&" not in lesson.use
    return is_whole and _INSTALLERS[language].search(lesson.use) is not None


_MODULE = re.compile(r"^[\s:'\"`]*(?P<name>(?:@[\w.-]+/)?[a-z][\w.-]*)")


def _brings(lesson: Lesson, signature: str) -> bool:
    """Whether an installation brings the module that a message misses, as far as the manifests say; whoever has added one is not
    helped by installing the others."""
    own = _PYTHON_MODULE.search(signature)
    if own and own["name"] in lesson.details.get("own", "").split(","):
        return False
    brought = lesson.details.get("brings", "").split(",")
    found = _NO_MODULE["node"].search(signature)
    module = _MODULE.match(found["rest"]) if found else None
    return brought == [""] or module is None or module["name"] in brought


_PYTHON_MODULE = re.compile(r"(?i:no module named|module not found:)\s*['\"]?(?P<name>\w+)")


def _names_of(lesson: Lesson) -> set[str]:
    details = lesson.details
    return {
        details.get("name", ""),
        *details.get("names", "").split(","),
        *details.get("more", "").split(","),
    } - {""}


def _was_astray(lesson: Lesson, signature: str, command: str) -> bool:
    """Whether a program did not find the file of its project where it was started."""
    file, program = lesson.details.get("file", ""), lesson.details.get("program", "")
    is_named = bool(file) and file.lower() in signature.lower() and _ASTRAY.search(signature) is not None
    return is_named and (not command or program in _MENTIONED.findall(command) or program in command)


_ONE_CASE = re.compile(
    r"\s(?:\S*/\S+|\S+\.\w{1,4}|-k|-t|-g|-run|--grep|--tests?|--test\S*|--filter\S*|NAME)(?:[\s=]|$)"
)
"""A check of one file or one case: how that is done, the session knows."""
_ALL = re.compile(r"^\./\.\.\.$|^\.$")
_HELPS = {"test": ("one test", "one test file"), "lint": ("lint, with fixes", "format"), "format": ("format",)}
"""By what a check was for, what helps after it found something: one case alone, or the program that mends by itself."""
_USED = 2
"""Sessions that ran one case alone, from which on it pays here: a small suite is run whole."""
_FORMATTING = re.compile(
    r"\b(?:fmt|format|gofmt|prettier|black|rustfmt|oxfmt|shfmt|swiftformat|dprint|ktlint)\b|[:-](?:fmt|format)\b"
)
_LINTING = re.compile(r"lint|ruff|biome|clippy|rubocop|detekt|check-style|checkstyle")
_SPECIAL = re.compile(
    r"\s(?:-tags|--tags|--features|--profile|--config|-c|--project|--build-tag)[= ]\S+|\b(?:integration|e2e)\b"
)
"""What switches on other tests than the usual ones."""


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
    known = [lesson for lesson in lessons if lesson.kind == "convention" and lesson.use]
    fitting = [
        lesson
        for lesson in known
        if lesson.details.get("about") in wanted
        and is_usable(lesson)
        and not is_common(lesson)
        and (
            lesson.support.sessions_for >= _USED or (lesson.topic != "test" and is_main(lesson) and is_grounded(lesson))
        )
        and fits(lesson, edited)
        and any(map(partial(is_below, lesson), edited or [""]))
        and not folder_of_command(lesson)
        and _suits(lesson, command, known)
    ]
    if any(lesson.id in told and lesson.details["about"] == wanted[0] for lesson in fitting):
        return None
    fitting.sort(
        key=lambda lesson: (
            tool_of(lesson.details.get("body", "") or lesson.use) not in command,
            wanted.index(lesson.details["about"]),
            -sum(bool(lesson.details.get("package")) and is_below(lesson, path) for path in edited),
            -lesson.support.sessions_for,
            lesson.id,
        )
    )
    return next((lesson for lesson in fitting if lesson.id not in told), None)


def _suits(lesson: Lesson, command: str, known: Sequence[Lesson]) -> bool:
    """Whether what helps is about the check that failed: a formatter only after a formatter's check, the fixes of the very
    linter, one test only where it runs the same tests."""
    bodies = [each.details.get("body", "") for each in known if each.use in command]
    ran = " ".join([command, *bodies])
    if lesson.topic == "test":
        special = _SPECIAL.search(ran)
        return special is None or special[0].strip() in lesson.use
    if lesson.topic == "format":
        return _FORMATTING.search(ran) is not None and is_grounded(lesson)
    if not _LINTING.search(ran):
        return False
    tool = tool_of(lesson.details.get("body", "") or lesson.use)
    return not any(bodies) or any(tool in body for body in bodies)
