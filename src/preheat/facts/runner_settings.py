"""Which files a project's configuration of `vitest`, `jest` or `playwright` calls tests. Pure.

Only lists of plain words are read: what is computed, taken in or split into projects is not known.
"""

import re
from functools import lru_cache
from posixpath import join

import msgspec

from preheat.facts.fitness import TEST_FILES, tool_of
from preheat.facts.values import MOVED, ProjectTree
from preheat.manifests.scripts import read_json
from preheat.model.lesson import Lesson

CONFIGURATIONS = ("vitest.config.", "jest.config.", "playwright.config.")
"""How the files that are read for this begin, beside those that others read too."""
_LARGEST = 20_000
"""Characters of a configuration that is read."""
_ENDINGS = ("ts", "mts", "cts", "js", "mjs", "cjs")
_NAMES = {"vitest": ("vitest.config", "vite.config"), "jest": ("jest.config",), "playwright": ("playwright.config",)}
_COMMENT = re.compile(r"^[ \t]*//[^\n]*|\s//\s[^\n]*|^[ \t]*/\*.*?\*/", re.MULTILINE | re.DOTALL)
_TEXT = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"|`[^`]*`")
_OF_TEST = re.compile(r"\btest\s*:\s*\{")
_LIST = r"\s*:\s*\[(?P<list>[^\[\]]*)\]"
_ELSEWHERE = re.compile(r"\b(?:mergeConfig|projects|workspace|root|roots|rootDir|dir)\b\s*[:(]|\.\.\.")
_WORD = re.compile(r"T(?P<number>\d+)T")


def with_test_files(lesson: Lesson, tree: ProjectTree) -> Lesson:
    """A form for one test with the patterns of the files that its program takes for tests, where a configuration names them."""
    if lesson.kind != "convention" or lesson.details.get("about") not in ("one test file", "one test"):
        return lesson
    moved = MOVED.match(lesson.use)
    folder = moved["folder"].rstrip("/") if moved else ""
    patterns = find_test_patterns(tree, tool_of(lesson.use), folder)
    details = lesson.details | {TEST_FILES: " ".join(patterns)}
    return msgspec.structs.replace(lesson, details=details) if patterns else lesson


def find_test_patterns(tree: ProjectTree, tool: str, folder: str) -> tuple[str, ...]:
    """The patterns of the files that a program takes for tests in a folder, relative to the project; none where they are not
    known."""
    paths = (join(folder, f"{name}.{ending}") for name in _NAMES.get(tool, ()) for ending in _ENDINGS)
    path = next((each for each in paths if each in tree.texts), "")
    if len(tree.texts.get(path, "")) > _LARGEST:
        return ()
    if path:
        found = _READERS[tool](tree.texts[path])
    elif tool == "jest":
        found = _read_package(tree.texts.get(join(folder, "package.json"), ""))
    else:
        found = ()
    plain = [each.removeprefix("<rootDir>/").removeprefix("./") for each in found]
    if any(not each or " " in each or each[0] in "!/<." for each in plain):
        return ()
    return tuple(join(folder, each) for each in plain)


@lru_cache(maxsize=64)
def _read_vitest(text: str) -> tuple[str, ...]:
    words, plain = _without_texts(text)
    blocks = [*_OF_TEST.finditer(plain)]
    if len(blocks) != 1:
        return ()
    inside, around = _inside_of(plain, blocks[0].end()), plain[: blocks[0].start()]
    if _ELSEWHERE.search(inside) or re.search(r"\bmergeConfig\(|\broot\s*:", around):
        return ()
    return _words_of(re.findall(rf"\binclude{_LIST}", inside), words)


@lru_cache(maxsize=64)
def _read_jest(text: str) -> tuple[str, ...]:
    words, plain = _without_texts(text)
    return () if _ELSEWHERE.search(plain) else _words_of(re.findall(rf"\btestMatch{_LIST}", plain), words)


@lru_cache(maxsize=64)
def _read_playwright(text: str) -> tuple[str, ...]:
    """Everything below the one folder of its tests, where it has several kinds of projects the same one."""
    folders = {found["folder"].strip("./") for found in _TEST_FOLDER.finditer(_COMMENT.sub("", text))}
    return tuple(f"{folder}/**/*" for folder in folders if folder) if len(folders) == 1 else ()


_TEST_FOLDER = re.compile(r"\btestDir\s*:\s*['\"](?P<folder>[\w./-]+)['\"]")
_READERS = {"vitest": _read_vitest, "jest": _read_jest, "playwright": _read_playwright}


@lru_cache(maxsize=64)
def _read_package(text: str) -> tuple[str, ...]:
    document = read_json(text)
    settings = document.get("jest") if isinstance(document, dict) else None
    if not isinstance(settings, dict) or not {"projects", "roots", "rootDir"}.isdisjoint(settings):
        return ()
    found = settings.get("testMatch")
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        return ()
    return tuple(found)


def _without_texts(text: str) -> tuple[list[str], str]:
    """The texts in quotes, and the program with their numbers in their place."""
    words: list[str] = []

    def keep(found: "re.Match[str]") -> str:
        words.append(found[0])
        return f"T{len(words) - 1}T"

    return words, _TEXT.sub(keep, _COMMENT.sub("", text))


def _inside_of(plain: str, start: int) -> str:
    """What stands in braces themselves, without what stands in braces inside of them."""
    depth, kept = 1, []
    for character in plain[start:]:
        depth += (character == "{") - (character == "}")
        if not depth:
            break
        if depth == 1:
            kept.append(character)
    return "".join(kept)


def _words_of(lists: list[str], words: list[str]) -> tuple[str, ...]:
    """The words of the one list that there is; none where anything else stands in it."""
    parts = [part.strip() for part in lists[0].split(",") if part.strip()] if len(lists) == 1 else []
    numbers = [_WORD.fullmatch(part) for part in parts]
    found = [words[int(each["number"])] for each in numbers if each is not None]
    is_plain = len(found) == len(parts) and not any("${" in each for each in found)
    return tuple(each[1:-1] for each in found) if is_plain else ()
