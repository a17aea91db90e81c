"""Which fact a change of files is about to need: that a file is generated or something is made of it, that packages are to be
installed, how its test is run, what its package and the project check with. Pure; knows no wording."""

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from posixpath import basename

from preheat.facts.fitness import fits, is_common, is_main, tool_of
from preheat.facts.summary import summarise_checks
from preheat.model.lesson import Lesson

_MANIFESTS = {
    "uv.lock": "pyproject.toml",
    "poetry.lock": "pyproject.toml",
    "pdm.lock": "pyproject.toml",
    "Pipfile.lock": "Pipfile",
    "Gemfile.lock": "Gemfile",
    "composer.lock": "composer.json",
    "mix.lock": "mix.exs",
    "pubspec.lock": "pubspec.yaml",
    "Podfile.lock": "Podfile",
}
"""By the file that a set-up is known by, the one that people change."""
_TEST_FILE = re.compile(r"(?i)(?:^|/)(?:test_[^/]*|[^/]*[._-](?:test|tests|spec)|[^/]*Tests?)\.\w+$")
_PLACED = re.compile(r"New `(?P<ending>\.[\w.]+)` files go below ")
_CODE = re.compile(
    r"\.(?:[cm]?[jt]sx?|py|go|rs|rb|java|kts?|swift|dart|php|cs|cc?|cpp|h|hpp|exs?|scala|vue|svelte|astro|zig|lua|sh|bats)$"
)
_PARTS = re.compile(r"[A-Za-z][a-z]*|[A-Z]+")
_VERBS = frozenset(
    ["gen", "generate", "generated", "codegen", "build", "render", "run", "update", "all", "api", "src", "code"]
)
_ONE = ("one test file", "one test")


def choose_for_change(
    candidates: Sequence[Lesson], changed: Sequence[str], known: Sequence[Lesson], purposes: frozenset[str]
) -> Lesson | None:
    """The fact that a change of files is about to need. `known`: facts that the session was told of, or did by itself;
    `purposes`: topics of the project's checks of which the same holds."""
    tools = {_single_tool(lesson) for lesson in known if lesson.details.get("about") in _ONE}
    for path in changed:
        found = (
            _find_generated(candidates, path)
            or _find_generator(candidates, path)
            or _find_installation(candidates, path)
            or _find_test([each for each in candidates if _single_tool(each) not in tools], path)
            or _find_checks(candidates, path, purposes)
        )
        if found is not None:
            return found
    return None


def choose_for_new_file(lessons: Iterable[Lesson], created: Sequence[str]) -> Lesson | None:
    """Where new files of a kind go, before one is made elsewhere."""
    for lesson in lessons if created else ():
        kind = _PLACED.match(lesson.text) if lesson.topic == "placement" else None
        if kind is not None and any(
            path.endswith(kind["ending"]) and not path.startswith(f"{lesson.use}/") and not _TEST_FILE.search(path)
            for path in created
        ):
            return lesson
    return None


def _find_generated(candidates: Iterable[Lesson], changed: str) -> Lesson | None:
    for lesson in candidates:
        path = lesson.details.get("path", "").rstrip("/")
        if lesson.topic == "generate" and path and (changed == path or changed.startswith(f"{path}/")):
            return lesson
    return None


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
    """Whether a generator is called by the ending of a file."""
    ending = changed.rpartition(".")[2] if "." in basename(changed) else ""
    words = {part.lower() for part in _PARTS.findall(lesson.use.rpartition(" ")[2])} - _VERBS
    return ending in words and not lesson.details.get("path")


def _find_installation(candidates: Iterable[Lesson], changed: str) -> Lesson | None:
    for lesson in candidates:
        if lesson.topic == "setup" and lesson.files:
            folder, _, name = lesson.files[0].rpartition("/")
            manifest = f"{folder}/{_MANIFESTS.get(name, name)}".lstrip("/")
            if changed == manifest:
                return lesson
    return None


def _find_test(candidates: Iterable[Lesson], changed: str) -> Lesson | None:
    """How a test file is run alone."""
    if not _TEST_FILE.search(changed):
        return None
    fitting = [
        lesson
        for lesson in candidates
        if lesson.details.get("about") in _ONE
        and is_below(lesson, changed)
        and fits(lesson, [changed])
        and not is_common(lesson)
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


def _find_checks(candidates: Sequence[Lesson], changed: str, purposes: frozenset[str]) -> Lesson | None:
    """The test of the package that a file of code lies in, else what the project checks with and the session does not know."""
    if not _CODE.search(changed):
        return None
    packages = [
        lesson
        for lesson in candidates
        if lesson.details.get("package") and is_below(lesson, changed) and lesson.topic == "test" and is_main(lesson)
    ]
    fitting = [lesson for lesson in packages if fits(lesson, [changed])]
    if fitting:
        return max(fitting, key=lambda lesson: (len(lesson.details["package"]), lesson.support.sessions_for, lesson.id))
    return summarise_checks(candidates, [changed], purposes)


def is_below(lesson: Lesson, changed: str) -> bool:
    """Whether a file lies in the package that a fact is about; always for a fact of the whole."""
    package = lesson.details.get("package", "")
    return not package or changed.startswith(f"{package}/")
