"""What a script looks at: the endings of the files, by the programs that it runs in the end, and the folders in which they run.
Pure; knows no wording.

Its whole text is read, and the scripts that it calls; where one of its programs is unknown, so is the whole.
"""

import re
from collections.abc import Iterable, Sequence
from posixpath import basename, dirname
from typing import NamedTuple

from preheat.commands.programs import FILTERS, TRIVIAL
from preheat.commands.purposes import started_by_find
from preheat.commands.words import flag_of, has_flag, name_set
from preheat.commands.wrappers import unwrap
from preheat.facts.fitness import ANY_FILE, AREAS, ENDINGS, WANTS_CLEAN
from preheat.facts.packages import Package
from preheat.facts.script_calls import find_calls, find_package, is_call
from preheat.facts.script_pieces import ScriptPiece, find_folder, split_script
from preheat.facts.tool_languages import LANGUAGES, WEB
from preheat.facts.values import ProjectTree
from preheat.manifests.make_variables import expand_all, read_variables
from preheat.manifests.scripts import LONGEST_BODY, SHELLS, Script, body_of

_DEEPEST = 6
_IDLE = TRIVIAL | name_set(
    "fi done esac } ] ]] for in mkdir rm rmdir cp mv touch ln chmod cat ls find git which type wait sleep kill tee time tput open"
)
"""Programs that look at no file of the project on their own, and words of the shell."""
_INSTALLING = re.compile(
    r"(?:npm|pnpm|yarn|bun) (?:install|i|ci|add)\b|yarn$|(?:uv|poetry|pdm) (?:sync|install|pip|venv|lock)\b|pip3? install\b"
    r"|mise (?:install|trust)\b|go (?:mod|install|get)\b|bundle install\b|composer install\b|flutter pub get\b|corepack \w+$"
)
_ANYTHING = re.compile(
    r"go (?:run|tool)\b|cargo (?:run|xtask|make)\b|(?:deno|node) (?:task|run)\b|(?:next|vite|astro) (?:dev|preview)\b"
)
"""Programs that start something else."""
_TESTING = re.compile(
    r"(?:^|/)(?:tests?|specs?|e2e|integration|tools?|scripts?|bin|hack|ci|dev|bench\w*)(?:[/_-]|$)|[_-](?:tests?|e2e)$"
)
"""Folders of what looks at the rest of the project."""
_NAMED_CLEAN = re.compile(
    r"(?:^|[:._-])(?:check|no|not|is|assert|ensure)[:._-]dirty|dirty[:._-]check|(?:^|[:._-])(?:check|assert|ensure)[:._-]clean(?:$|[:._-]tree)"
)
_FAILS_UNLESS_CLEAN = re.compile(
    r"git diff(?: -[\w-]+)*? --exit-code(?: -[\w-]+| HEAD)*\s*(?:$|[;&|)}])"
    r"|-[nz] [\"']?\$\$?\(git (?:diff|status)(?: -[\w=-]+| HEAD)*\s*\)"
)
"""What fails on any change that is not committed; one that names files only fails on those."""


class Coverage(NamedTuple):
    """What a script looks at."""

    endings: frozenset[str] | None = None
    """Of the files; None where that is not known."""
    areas: frozenset[str] | None = None
    """The folders, relative to the project; the empty one is all of it. None where they are not known."""
    wants_clean: bool = False
    """It fails on any change that is not committed."""
    is_idle: bool = False
    """It looks at nothing."""


_MOST_AREAS = 12
_IDLE_COVERAGE = Coverage(frozenset(), frozenset(), is_idle=True)
_UNKNOWN = Coverage()


class ScriptCoverage:
    """What the scripts of a project look at."""

    def __init__(
        self, tree: ProjectTree, packages: Sequence[Package], tasks: Iterable[Script], shell: Iterable[Script]
    ) -> None:
        self._tree = tree
        self._packages = packages
        of_packages = (script for package in packages for script in package.scripts)
        self._scripts = {(each.runner, each.folder, each.name): each for each in (*tasks, *of_packages)}
        self._shell = {each.file: each for each in shell}
        self._known: dict[Script, Coverage] = {}

    def find(self, script: Script, depth: int = _DEEPEST) -> Coverage:
        """What a script looks at, with those that it calls."""
        if script not in self._known:
            self._known[script] = Coverage()  # for one that calls itself
            self._known[script] = self._read(script, depth)
        return self._known[script]

    def _read(self, script: Script, depth: int) -> Coverage:
        body = body_of(script)
        if script.runner == "make":
            body = expand_all(body, read_variables(self._tree.texts.get(script.file, "")))
        wants_clean = bool(_NAMED_CLEAN.search(script.name) or _FAILS_UNLESS_CLEAN.search(body))
        if not depth or not body or (len(body) >= LONGEST_BODY and script.runner not in SHELLS):
            return Coverage(wants_clean=wants_clean)
        start = "" if script.runner in SHELLS else script.folder
        pieces = split_script(body, script.runner, start, self._tree.has_folder)
        found = _join([self._find_of_piece(each, depth) for each in pieces])
        return found._replace(wants_clean=wants_clean or found.wants_clean)

    def _find_of_piece(self, piece: ScriptPiece, depth: int) -> Coverage:
        words = started_by_find(piece.words) if piece.words[0] == "find" else piece.words
        if not words or _is_idle(words, piece.is_filter):
            return _IDLE_COVERAGE
        if is_call(words):
            calls = find_calls(words, piece.folder, self._packages)
            called = [self._find_called(each.runner, each.folder, each.name, depth) for each in calls.scripts]
            if called == [_UNKNOWN] and words[0] in _STARTING and calls.areas is None:  # no script, but a program
                name = calls.scripts[0].name
                return Coverage(_endings_of(words[words.index(name) :]), _area_of(calls.scripts[0].folder))
            found = _join(called) if called else _UNKNOWN
            return found if calls.areas is None else found._replace(areas=frozenset(calls.areas))
        inside = _find_started(words)
        folder = self._find_place(words, piece.folder)
        if inside and is_call(inside) and inside != words:
            return self._find_of_piece(ScriptPiece(inside, folder, is_filter=False), depth)
        path = self._path_of_script(inside, folder)
        if path in self._shell:
            found = self.find(self._shell[path], depth - 1)
            return found if folder == "" else found._replace(areas=None)
        if inside and _is_idle(inside, is_filter=False):
            return _IDLE_COVERAGE
        return Coverage(_endings_of(inside), _area_of(folder) if ".." not in " ".join(words) else None)

    def _find_called(self, runner: str, folder: str, name: str, depth: int) -> Coverage:
        script = self._scripts.get((runner, folder, name))
        return self.find(script, depth - 1) if script is not None else _UNKNOWN

    def _find_place(self, words: Sequence[str], folder: str | None) -> str | None:
        """The folder in which a program runs: the one that it is sent to, else the one where it is typed."""
        if words[0] in _STARTING and (name := flag_of(words, _CHOSEN)):
            package = find_package(name, self._packages)
            return package.folder if package is not None else None
        named = flag_of(words, _SENT) if words[0] in _SENDING else None
        return folder if named is None or folder is None else find_folder(folder, named, self._tree.has_folder)

    def _path_of_script(self, words: Sequence[str], folder: str | None) -> str:
        word = words[1] if words[:1] and words[0] in SHELLS and len(words) > 1 else words[0] if words else ""
        return f"{folder}/{word.removeprefix('./')}".lstrip("/") if folder is not None else ""


_STARTING = name_set("npm pnpm yarn bun")
_CHOSEN = name_set("--filter -F --workspace -w")
_SENDING = name_set("uv npm pnpm yarn bun go poetry cargo mise")
_SENT = name_set("-C --directory --dir --prefix --cwd")


def _is_idle(words: Sequence[str], is_filter: bool) -> bool:
    program = basename(words[0])
    if program == "command" and words[1:2] == ("-v",):
        return True
    return program in _IDLE or (is_filter and program in FILTERS) or _INSTALLING.match(" ".join(words)) is not None


def _find_started(words: tuple[str, ...]) -> tuple[str, ...]:
    """The command that runs in the end; of `uv run python -m NAME` the module, whose option is not that of `uv`."""
    place = words.index("-m") if words[:2] == ("uv", "run") and "-m" in words else 0
    return unwrap(words[place - 1 :] if words[place - 1] in ("python", "python3") and place else words)[0]


def _area_of(folder: str | None) -> frozenset[str] | None:
    """The folder as one that a command looks at; all of the project for one of tests or tools."""
    return None if folder is None else frozenset(["" if _TESTING.search(folder) else folder])


def _endings_of(words: Sequence[str]) -> frozenset[str] | None:
    """The endings of the files that a command works on; None where that is not known."""
    if not words or _ANYTHING.match(" ".join(words[:2])):
        return None
    if words[0] == "node" and not has_flag(words, "--test", "--check"):
        return None  # a script of the project
    if tuple(words[:2]) == ("bun", "test"):
        return frozenset(WEB.split())
    return LANGUAGES.get(basename(words[0]))


def _join(parts: Sequence[Coverage]) -> Coverage:
    """What several commands look at together; those that look at nothing count for nothing."""
    looking = [each for each in parts if not each.is_idle]
    wants_clean = any(each.wants_clean for each in parts)
    if not looking:
        return _IDLE_COVERAGE._replace(wants_clean=wants_clean) if parts else Coverage()
    endings = [each.endings for each in looking if each.endings is not None]
    areas = [each.areas for each in looking if each.areas is not None]
    return Coverage(
        frozenset().union(*endings) if len(endings) == len(looking) else None,
        frozenset().union(*areas) if len(areas) == len(looking) else None,
        wants_clean,
    )


def describe_coverage(coverage: Coverage, package: str) -> dict[str, str]:
    """The details of a script's fact that say what it looks at."""
    endings = " ".join(sorted(coverage.endings or ())) or ANY_FILE
    areas = sorted(coverage.areas or ())
    if len(areas) > _MOST_AREAS:
        areas = sorted({dirname(each) or each for each in areas})
    is_told = areas and "" not in areas and areas != [package] and not any(" " in each for each in areas)
    return (
        {ENDINGS: endings}
        | ({AREAS: " ".join(areas)} if is_told else {})
        | ({WANTS_CLEAN: "yes"} if coverage.wants_clean else {})
    )
