"""Whether a fact is one of the project's usual commands, and whether it fits the files that are worked on. Pure."""

import re
from collections.abc import Iterable, Sequence
from posixpath import basename

from preheat.commands.common import is_common_command
from preheat.commands.sources import is_source_of_test
from preheat.commands.words import name_set
from preheat.facts.globs import read_pattern
from preheat.facts.tool_languages import CODE, LANGUAGES
from preheat.lesson_meaning import hardly_passes
from preheat.model.lesson import Lesson

_ONE_FILE = re.compile(
    r"(?:^|\s)(?!-)(?P<path>\S*\.(?:test|spec)\.\w+|\S*/\S*\.(?:[jt]sx?|py|go|rs|rb|java|kt|swift|dart|php|cs|bats))(?=\s|$)"
)
_INTERPRETERS = name_set("bash sh zsh python python3 node ruby perl php tsx ts-node deno")
_SPECIAL = re.compile(r"\b(?:NAME|PATH|FOLDER|PACKAGE|VALUE)\b")
_CHECKED = frozenset(["test", "build", "lint", "typecheck", "format"])
_FOLDER = re.compile(r"\s\./(?P<folder>[\w.@-]+(?:/[\w@-]+)*)(?:/(?:\.\.\.)?)?(?=\s|$)")
_MUCH_USED, _USED = 3, 2
_LEAST_REACH, _LEAST_USED = 0.3, 0.1
"""How likely a session needs a check, for it to be said unasked: by what files say, and where sessions used it."""
_STARTERS = name_set("npx bunx pnpx uvx exec x dlx run uv poetry pdm pipenv hatch mise -- python python3 -m bundle rtk")
"""Words before the tool that a command runs in the end."""


PACKAGE_RUNNERS = name_set("npm pnpm yarn bun vp make just mise task turbo nx")
"""Programs that run scripts of any kind: that two commands begin with one says nothing of what they do."""


_PASSED_ON = re.compile(r"(?:pnpm|yarn) .*? -- ")
"""These hand on the dashes too, which many a program takes for the end of its options."""


ASTRAY = "astray"
"""The detail of a command that ran in a folder which it does not name."""


def is_usable(lesson: Lesson) -> bool:
    """Whether a lesson is a fact that may be said: not what was typed for one file as the way of all, nor what hardly ever
    passed."""
    return (
        lesson.status == "active"
        and bool(lesson.details)
        and not _is_of_one_file(lesson)
        and not _PASSED_ON.match(lesson.use)
        and not lesson.details.get(ASTRAY)
        and not _SPECIAL.match(lesson.use)
        and not (hardly_passes(lesson) and not (lesson.details.get("main") or lesson.details.get("body")))
    )


def _is_of_one_file(lesson: Lesson) -> bool:
    """Whether a check's command names a file of code: it was one case, whatever it is called."""
    if lesson.topic not in _CHECKED or not lesson.support.sessions_for:
        return False
    return any(
        (found := _ONE_FILE.search(piece)) is not None and piece.split()[0] not in _INTERPRETERS and found.start() > 0
        for each in lesson.use.split("&&")
        if (piece := each.strip())
    )


def is_whole(lesson: Lesson) -> bool:
    """Whether a check is that of everything, not of one package, file or case. A word that varies behind an option which selects
    nothing (`-destination NAME`) is no case."""
    if lesson.details.get("about", lesson.topic) != lesson.topic:
        return False
    words = lesson.use.split()
    return not any(
        _SPECIAL.search(word) and not _is_free(before, word) for before, word in zip(["", *words], words, strict=False)
    )


def _is_free(before: str, word: str) -> bool:
    """Whether a word that varies is the value of an option by which no part of a project is chosen."""
    option, joined, _ = word.partition("=")
    name = option if joined and option.startswith("-") else before
    return name.startswith("-") and "=" not in name and name.lstrip("-").lower() not in _CHOOSING


_CHOOSING = name_set(
    "run t k g p m f filter tests test only-testing package grep match name-pattern testnamepattern test-name-pattern"
    " testpathpattern testpathpatterns workspace w c file path paths bench example examples bin lib include exclude select exec"
)
"""Options, without their dashes, by which a part of a project is chosen."""


_MOSTLY = 0.75


def is_agreed(lesson: Lesson) -> bool:
    """Whether nearly all cases that were counted do what a custom says. Of one prefix of branches alone nobody knows whether
    other changes have it too."""
    if lesson.topic == "branch" and "," not in lesson.details.get("prefixes", ""):
        return False
    if "good" not in lesson.details:
        return True
    good, every = (int(lesson.details.get(name) or 0) for name in ("good", "all"))
    return good >= _MOSTLY * every


def was_run(lesson: Lesson, ran: Iterable[str]) -> bool:
    """Whether a session ran a check, or what its script runs, by itself; what it sees by that, it needs no line for."""
    commands = [each for each in (lesson.use, lesson.details.get("body", "")) if each]
    return lesson.topic in (*_CHECKED, "check") and any(command in each for command in commands for each in ran)


def is_common(lesson: Lesson) -> bool:
    """Whether a fact's command is what its language has for everybody."""
    return is_common_command(lesson.use)


_FORMATTER = re.compile(
    r"\b(?:gofmt|gofumpt|rustfmt|black|shfmt|swiftformat|dprint)\b|\bcargo fmt\b|\b(?:prettier|oxfmt)\b(?!.*&&)|\bruff format\b"
    r"|\bbiome format\b|\bdart format\b|[:-](?:fmt|format)\b|\b(?:fmt|format):check\b"
)


_JOINED = re.compile(r"&&|\|\||[;|]")


def single_body(lesson: Lesson) -> str:
    """The one command that a fact's script runs; empty where it runs several, or that is not known."""
    body = lesson.details.get("body", "")
    return "" if _JOINED.search(body) else body


def is_of_formatter(command: str) -> bool:
    """Whether a command only formats, or says which files a formatter would change."""
    return _FORMATTER.search(command) is not None


def folder_of_command(lesson: Lesson) -> str:
    """The folder that a check names, `internal/store` of `go test ./internal/store/...`; empty if it names none. A build of one
    program is that of the project, where sessions make no other."""
    found = _FOLDER.search(lesson.use) if lesson.topic in _CHECKED else None
    if found is not None and lesson.topic == "build" and not lesson.use.endswith("..."):
        return ""
    folder = "" if found is None else found["folder"].strip(".")  # `./...` is everything
    return "" if _SPECIAL.search(folder) else folder


def is_main(lesson: Lesson) -> bool:
    """Whether a check is the usual one for its purpose: the plain one of the project's own, or one that several sessions used."""
    return bool(lesson.details.get("main")) or lesson.support.sessions_for >= _MUCH_USED


def is_usual(lesson: Lesson) -> bool:
    """Whether many sessions need a check: as a file of the project says, or as several sessions did."""
    used = lesson.support.sessions_for
    return (is_main(lesson) and (lesson.reach or 0.0) >= _LEAST_REACH) or (
        used >= _USED and (lesson.reach or 0.0) >= _LEAST_USED
    )


def tool_of(command: str) -> str:
    """The tool that a command runs in the end: `jest` of `npx jest --ci`."""
    words = command.rpartition("&& ")[2].split()
    while len(words) > 1 and (words[0] in _STARTERS or re.fullmatch(r"\w+=\S*", words[0]) or _starts_another(words)):
        words = words[1:]
    return words[0].rpartition("bin/")[2] if words else ""


def _starts_another(words: Sequence[str]) -> bool:
    return words[0] in ("pnpm", "yarn", "bun", "npm") and words[1] in ("exec", "x", "dlx")


ENDINGS, AREAS, ANY_FILE = "endings", "areas", "*"
"""The details of a script that name the endings of the files that it looks at (`ANY_FILE`: any, or unknown), and the folders."""
TEST_FILES = "test_files"
"""The detail of a form for one test that names the patterns of the files which its program takes for tests."""
WANTS_CLEAN = "wants_clean"
"""The detail of a script that fails on any change that is not committed."""


def languages_of(lesson: Lesson) -> frozenset[str]:
    """The endings of the files that a fact's command works on; empty where that is not known."""
    if endings := lesson.details.get(ENDINGS, ""):  # of its whole script, which may be longer than what is shown of it
        return frozenset() if endings == ANY_FILE else frozenset(endings.split())
    body = lesson.details.get("body", "")
    return LANGUAGES.get(tool_of(body), frozenset()) if body else LANGUAGES.get(tool_of(lesson.use), frozenset())


def is_of_one_language(command: str, lesson: Lesson) -> bool:
    """Whether a typed command works on the same sort of files as that of a fact, as far as both are known."""
    typed, own = LANGUAGES.get(tool_of(command), frozenset()), languages_of(lesson)
    return not typed or not own or not typed.isdisjoint(own)


def fits(lesson: Lesson, files: Iterable[str]) -> bool:
    """Whether a fact's command works on any of some files: a formatter of Python does not on Go, nor the test of one folder on
    what lies beside it. Files of no language that we know say nothing."""
    own = languages_of(lesson)
    areas = [lesson.details.get("package", "")], lesson.details.get(AREAS, "").split()
    endings = set()
    inside = []
    for path in files:
        endings.add(_MANIFESTS.get(basename(path)) or path.rpartition(".")[2])
        inside.append(all(_lies_in(path, folders) for folders in areas) and _may_be_run(path, lesson))
    if inside and not any(inside):
        return False
    known = endings & CODE
    return not own or not known or not own.isdisjoint(known)


def _may_be_run(path: str, lesson: Lesson) -> bool:
    """Whether a file is none of tests, or one that the program of a form for one test takes for such."""
    patterns = [read_pattern(each) for each in lesson.details.get(TEST_FILES, "").split()]
    is_known = bool(patterns) and None not in patterns and is_source_of_test(path)
    return not is_known or any(each.fullmatch(path) for each in patterns if each is not None)


_MANIFESTS = {"Cargo.toml": "rs", "pyproject.toml": "py"}
"""Files that belong to a language, with the ending of its code."""


def _lies_in(path: str, folders: Sequence[str]) -> bool:
    """Whether a file lies in one of some folders; there where none is named."""
    return not any(folders) or any(path.startswith(f"{folder}/") for folder in folders)
