"""Which fact a change of files is about to need: that a file is generated or something is made of it, where its version stands
too, that packages are to be installed, how its test is run, what its package and the project check with. Pure; knows no
wording."""

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from posixpath import basename, dirname, splitext

from preheat.commands.common import is_common_command
from preheat.commands.sources import is_code, is_source, is_source_of_test
from preheat.commands.words import name_set
from preheat.facts.dependencies import changes_dependencies, manifest_of
from preheat.facts.fitness import (
    fits,
    folder_of_command,
    is_common,
    languages_of,
    tool_of,
)
from preheat.facts.place import NOWHERE, Place
from preheat.facts.summary import summarise_checks
from preheat.facts.versions import changes_version
from preheat.model.lesson import Lesson

_APART = re.compile(
    r"(?i)(?:^|/)(?:scripts?|benchmarks?|tools?|bin|hack|docs?|migrations?)/|(?:helper|setup|config)[^/]*$"
)
"""Files that have a place of their own."""
_PLACED = re.compile(r"New `(?P<ending>\.[\w.]+)` files go below ")
_PARTS = re.compile(r"l10n|[A-Za-z][a-z]*|[A-Z]+")
_SOURCES = name_set("l10n proto graphql gql graphqls prisma sql pkl thrift avsc fbs g4 xsd wsdl capnp")
"""Endings of files of which others are made, as a script's own name says: `proto:gen`."""
_SCRIPT = re.compile(r"^(?:bash|sh|zsh|python3?|node|ruby)\s|^\./")
"""A file that is run, and may want arguments."""
_FOLDER = re.compile(r"\./[\w.@-]+(?:/[\w@-]+)*(?:/\.\.\.)?(?=\s|$)")
_ONE = ("one test file", "one test")


def choose_for_change(
    candidates: Sequence[Lesson],
    changed: Sequence[str],
    known: Sequence[Lesson],
    purposes: frozenset[str],
    place: Place = NOWHERE,
    checks: Sequence[Lesson] = (),
) -> Lesson | None:
    """The fact that a change of files is about to need. `known`: facts that the session was told of, or did by itself;
    `purposes`: topics of the project's checks of which the same holds; `place`: where the change is made; `checks`: the
    candidates with what the language has for everybody."""
    tools = {_single_tool(lesson) for lesson in known if lesson.details.get("about") in _ONE}
    alone = [
        lesson
        for lesson in candidates
        if _single_tool(lesson) not in tools and not (tools and not lesson.details.get("package"))
    ]
    for path in changed:
        found = (
            _find_generated(candidates, path)
            or _find_generator(candidates, path)
            or _find_versions(candidates, path, place.lines)
            or _find_installation(candidates, path, place.lines)
            or _find_test([each for each in alone if reaches(each, path)], path)
            or _find_checks([each for each in checks if reaches(each, path)], path, purposes, place.stated)
        )
        if found is not None:
            return found
    return None


def choose_for_new_file(lessons: Iterable[Lesson], place: Place) -> Lesson | None:
    """Where new files of a kind go, before one is made in a folder that has none of them; what is no part of the program has a
    place of its own."""
    for path in place.created:
        folder, ending = dirname(path), splitext(path)[1]
        if not ending or place.is_there(path) or not is_source(path) or _APART.search(path):
            continue
        if place.has_kind(folder, ending):
            continue
        for lesson in lessons:
            kind = _PLACED.match(lesson.text)
            if kind is not None and kind["ending"] == ending and not path.startswith(f"{lesson.use}/"):
                return lesson
    return None


def reaches(lesson: Lesson, path: str) -> bool:
    """Whether a check may look at a file: scripts of a JavaScript package do not look at code of another language, as far as is
    known of them."""
    command = lesson.details.get("body", "") or lesson.use
    is_script = command.rpartition("&& ")[2].removeprefix("corepack ").partition(" ")[0] in _RUNNERS
    return not is_script or bool(languages_of(lesson)) or not is_code(path) or _OF_WEB.search(path) is not None


_RUNNERS = frozenset(["npm", "pnpm", "yarn", "bun"])
_OF_WEB = re.compile(r"\.(?:[cm]?[jt]sx?|vue|svelte|astro)$")


def _find_generated(candidates: Iterable[Lesson], changed: str) -> Lesson | None:
    for lesson in candidates:
        path = lesson.details.get("path", "").rstrip("/")
        if lesson.topic == "generate" and path and (changed == path or changed.startswith(f"{path}/")):
            return lesson
    return None


def _find_versions(candidates: Iterable[Lesson], changed: str, lines: Sequence[str]) -> Lesson | None:
    """The other files that have the version which an edit changes."""
    if not any(map(changes_version, lines)):
        return None
    return next((lesson for lesson in candidates if lesson.topic == "version" and changed in lesson.files), None)


def _find_generator(candidates: Iterable[Lesson], changed: str) -> Lesson | None:
    """What makes other files of this one, as sessions did after changes of it, or by its name: `proto:gen` for `a.proto`."""
    named = None
    for lesson in candidates:
        if lesson.topic != "generate" or lesson.details.get("about") == "generated":
            continue
        source = lesson.details.get("source", "")
        if source and (fnmatchcase(changed, source) or changed.startswith(f"{source.rstrip('/')}/")):
            return lesson
        if named is None and not source and is_below(lesson, changed) and _names_kind(lesson, changed):
            named = lesson
    return named


def _names_kind(lesson: Lesson, changed: str) -> bool:
    """Whether a generator is called by the ending of a source of code."""
    ending = changed.rpartition(".")[2] if "." in basename(changed) else ""
    ending = {"arb": "l10n"}.get(ending, ending)  # messages, by the name that their generators have
    words = {part.lower() for part in _PARTS.findall(lesson.use.rpartition(" ")[2])}
    is_named = ending in _SOURCES and ending in words
    return is_named and not lesson.details.get("path") and not _SCRIPT.match(lesson.use.rpartition("&& ")[2])


def _find_installation(candidates: Iterable[Lesson], changed: str, lines: Sequence[str]) -> Lesson | None:
    """What installs the packages of a manifest, where those change: for a package of a workspace that of the whole."""
    if not changes_dependencies(changed, lines):
        return None
    setups = {
        manifest_of(each): each
        for each in reversed(list(candidates))
        if each.topic == "setup" and not _EVERYBODYS.fullmatch(each.use)
    }
    return setups.get(changed) or (setups.get("package.json") if basename(changed) == "package.json" else None)


_EVERYBODYS = re.compile(r"(?:npm|pnpm|yarn|bun)(?: install)?")
"""What everybody types who changes the packages of a manifest."""


def _find_test(candidates: Iterable[Lesson], changed: str) -> Lesson | None:
    """How a test file is run alone."""
    if not is_source_of_test(changed):
        return None
    fitting = [
        lesson
        for lesson in candidates
        if lesson.details.get("about") in _ONE
        and is_below(lesson, changed)
        and fits(lesson, [changed])
        and f"{changed}/".startswith(f"{folder_of_command(lesson)}/" if folder_of_command(lesson) else "")
        and not is_common(lesson)
        and not is_common_command(_FOLDER.sub("./FOLDER/...", lesson.use))
    ]
    fitting.sort(
        key=lambda lesson: (
            -len(lesson.details.get("package", "")),
            _ONE.index(lesson.details["about"]),
            -lesson.support.sessions_for,
            lesson.id,
        )
    )
    return fitting[0] if fitting else None


def _single_tool(lesson: Lesson) -> str:
    """The tool by which one test is run: who knows it in one package knows it in the next."""
    return tool_of(lesson.use)


def _find_checks(
    checks: Sequence[Lesson], changed: str, purposes: frozenset[str], stated: frozenset[str]
) -> Lesson | None:
    """What a source is checked with and the session does not know: by its package, else by the project."""
    if not is_source(changed):
        return None
    known = [each for each in checks if languages_of(each) or not _OF_SHELL.search(changed)]
    found = summarise_checks(known, [changed], purposes, stated)
    return found if found is None or found.topic != "format" else None  # alone that waits for the commit


_OF_SHELL = re.compile(r"\.(?:sh|bash|zsh|bats)$")
"""Scripts beside the program, which its checks do not look at unless they say so."""


def is_below(lesson: Lesson, changed: str) -> bool:
    """Whether a file lies in the package that a fact is about; always for a fact of the whole."""
    package = lesson.details.get("package", "")
    return not package or changed.startswith(f"{package}/")
