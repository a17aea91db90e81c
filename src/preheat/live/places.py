"""The subsystem of a project that a file belongs to, and the words in its path. Knows no session and no disk.

A subsystem is the folder of a module, without the folders that every project has (`src`, `internal`, …). Tests belong to the
module they test: `tests/auth/test_login.py` is in `auth`, as `src/auth/login.py` is.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from preheat.model.live import PromptEvent

_GENERIC_FOLDERS = frozenset(
    ["src", "lib", "libs", "app", "apps", "main", "java", "kotlin", "scala", "python", "internal", "pkg", "cmd", "source",
     "sources", "packages", "crates", "modules"]
)  # fmt: skip
_TESTS = re.compile(r"(?i)_*(?:\w+[_-])?(?:tests?|specs?|testing|testdata|e2e|fixtures|mocks?|snapshots?)_*")
_TEST_NAME = re.compile(
    r"(?i)^(?:tests?[_-])(?P<after>[\w-]+?)\.\w+$|^(?P<before>[\w-]+?)(?:[._-](?:tests?|spec))+\.\w+$"
)
_SUPPORTING = re.compile(
    r"(?i)\.(?:mdx?|rst|txt|adoc|json[5cl]?|ya?ml|toml|lock|cfg|ini|conf|env|xml|svg|png|jpe?g|gif|ico|csv|tsv|snap|sum|mod)$"
)
"""Documents, settings and data belong to no subsystem."""
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_COMMON = frozenset(
    ["test", "tests", "spec", "index", "main", "init", "mod", "file", "files", "code", "util", "utils", "helper", "helpers",
     "common", "base", "core", "types", "type", "impl", "py", "ts", "tsx", "js", "jsx", "go", "rs", "java", "rb", "cs", "cpp"]
)  # fmt: skip
"""Words in so many paths that sharing them means nothing."""
_AGREEING = frozenset(
    ["yes", "okay", "please", "continue", "proceed", "next", "one", "again", "now", "good", "great", "nice", "thanks", "keep",
     "going", "ahead", "step", "steps", "done", "sure", "perfect", "resume", "right", "same", "try", "sounds", "looks", "let"]
)  # fmt: skip
"""Words of a prompt that only agrees."""
_LONGEST = 120
_WORDS_NEEDED = 3


class FileLocation(NamedTuple):
    subsystem: str
    is_test: bool
    tested: str
    """For a test in no module's folder: the name of the file that it tests."""


@lru_cache(maxsize=8192)
def locate_file(path: str) -> FileLocation | None:
    """The location of a file; None for documents, settings and data."""
    *folders, name = path[-400:].split("/")
    if not folders or folders[0].startswith(".") or _SUPPORTING.search(name):
        return None
    kept = [folder for folder in folders if folder not in _GENERIC_FOLDERS and not _TESTS.fullmatch(folder)]
    named = _TEST_NAME.match(name)
    is_test = named is not None or any(_TESTS.fullmatch(folder) for folder in folders)
    if kept or not is_test:
        return FileLocation(("/".join(kept) or ".")[-_LONGEST:], is_test, "")
    return FileLocation("", True, (named["after"] or named["before"]).lower()[:_LONGEST] if named else "")


def subsystem_of(found: FileLocation, known: tuple[str, ...]) -> str:
    """The subsystem of a file, given those worked in; empty for a test that could belong to any.

    A test belongs to a known subsystem that ends with its path: test folders are often less deep.
    """
    subsystem, is_test, tested = found
    if not is_test or subsystem in known:
        return subsystem
    ending = f"/{subsystem or tested}"
    for other in known:
        if other.endswith(ending) or f"/{other}" == ending:
            return other
    return subsystem


@lru_cache(maxsize=8192)
def path_words(path: str) -> frozenset[str]:
    """The words in a path, in lower case, without those that most paths have."""
    return frozenset(word.lower() for word in _WORD.findall(path[-400:]) if len(word) > 2) - _COMMON - _GENERIC_FOLDERS


def is_supporting_file(path: str) -> bool:
    """Whether a file is a document, settings or data."""
    return _SUPPORTING.search(path) is not None


def states_a_goal(asked: PromptEvent) -> bool:
    """Whether a prompt states a goal: `go on` does not."""
    if asked.files:
        return True
    found = 0
    for word in asked.words:
        if word not in _COMMON and word not in _AGREEING:
            found += 1
            if found >= _WORDS_NEEDED:
                return True
    return False


def shorten_path(path: str, most: int = 40) -> str:
    """A path cut to its end, which begins with a whole name."""
    if len(path) <= most:
        return path
    cut = path[-most:]
    return f"…/{cut.partition('/')[2]}" if "/" in cut else cut
