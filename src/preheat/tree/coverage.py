"""Which test covers which file: by the name of the test, and by what it imports. Knows no index.

A name is `test_x.py`, `x_test.go`, `x.spec.ts`, `XTests.java` and the like for `x`. An import is kept as the parts of its path,
as far as the text says them; whether it means a file is decided by comparing both from their ends.
"""

import os
import posixpath
import re

_MOST_IMPORTS = 100
_LONGEST = 200
_TEST_FOLDER = re.compile(r"(?i)(?:^|/)(?:tests?|specs?|__tests__|e2e|testing)(?:/|$)")
_TEST_NAME = re.compile(
    r"(?:^|[_.-])(?i:tests?|specs?|e2e)(?=$|[_.-])|(?<=[a-z0-9])(?:Tests?|Specs?|IT)$|^Test(?=[A-Z])"
)
_NO_CODE = frozenset(
    ("md", "markdown", "mdx", "rst", "txt", "json", "yaml", "yml", "toml", "lock", "snap", "html", "css", "xml", "csv")
)
_FOLDER_STEMS = frozenset(("__init__", "index", "mod", "lib", "main"))
"""Names of files that an import names by their folder."""
_FROM = re.compile(r"^\s*from\s+(\.*[\w.]*)\s+import\s+\(?([\w ,*]*)", re.MULTILINE)
_IMPORT = re.compile(r"^\s*import\s+(?:static\s+)?([\w.]+)", re.MULTILINE)
_QUOTED = re.compile(
    r"""(?:\bfrom|\bimport|\brequire(?:_relative)?|\bmock|^\s*#\s*include)\s*\(?\s*["'<]([\w@./~-]+)["'>]""",
    re.MULTILINE,
)
_GO_IMPORT = re.compile(
    r"""^\s*(?:import\s+)?(?:[\w.]+\s+)?"([\w@./~-]+)"\s*$""",
    re.MULTILINE,
)
_USE = re.compile(r"^\s*(?:pub\s+)?use\s+([\w:\\]+)", re.MULTILINE)
_ENDINGS_OF_CODE = re.compile(r"\.(?:[cm]?[jt]sx?|py|rb|php|h|hpp|go|vue|svelte)$")


def is_test(path: str) -> bool:
    """Whether a file is a test, by its path."""
    folder, name = posixpath.split(path)
    stem, ending = posixpath.splitext(name)
    if ending[1:].lower() in _NO_CODE:
        return False
    return bool(_TEST_NAME.search(stem)) or (bool(ending) and bool(_TEST_FOLDER.search(f"{folder}/")))


def subject_of(path: str) -> str:
    """The name of what a test is about, in lower case: `engine` of `test_engine.py`; of other files their own."""
    stem = (
        posixpath.basename(path).partition(".")[0]
        if _is_dotted(path)
        else posixpath.splitext(posixpath.basename(path))[0]
    )
    bare = _TEST_NAME.sub("", stem).strip("_.-")
    return (bare or stem).lower()


def _is_dotted(path: str) -> bool:
    """Whether the name has its mark as an ending of its own, as `engine.test.ts`."""
    return posixpath.basename(path).count(".") > 1


def read_imports(path: str, text: str) -> list[str]:
    """What a file imports: paths without endings, those of the project mixed with those of libraries."""
    ending = os.path.splitext(path)[1][1:]
    found: dict[str, None] = {}
    if ending in ("py", "pyi"):
        for module, names in _FROM.findall(text):
            base = _resolve_python(path, module)
            found[base] = None
            found.update(dict.fromkeys(f"{base}/{name.split()[0]}" for name in names.split(",") if name.split()))
    if ending in ("py", "pyi", "java", "kt", "scala", "swift", "cs"):
        found.update(dict.fromkeys(name.replace(".", "/") for name in _IMPORT.findall(text)))
    if ending in ("rs", "php"):
        for name in _USE.findall(text):
            parts = [part for part in re.split(r"[:\\]+", name) if part not in ("crate", "super", "self", "")]
            found.update(dict.fromkeys("/".join(parts[:length]) for length in range(1, len(parts) + 1)))
    for name in (_GO_IMPORT if ending == "go" else _QUOTED).findall(text):
        found[_resolve_relative(path, _ENDINGS_OF_CODE.sub("", name))] = None
    return [name[:_LONGEST] for name in found if name.strip("/.")][:_MOST_IMPORTS]


def _resolve_python(path: str, module: str) -> str:
    dots = len(module) - len(module.lstrip("."))
    inside = module[dots:].replace(".", "/")
    if not dots:
        return inside
    folder = posixpath.dirname(path)
    for _ in range(dots - 1):
        folder = posixpath.dirname(folder)
    return posixpath.join(folder, inside).rstrip("/")


def _resolve_relative(path: str, name: str) -> str:
    if name.startswith("."):
        return posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
    return name.lstrip("@~/")


def import_term(name: str) -> str:
    """The part of an import by which it is looked up."""
    return name.rstrip("/").rpartition("/")[2].lower()


def import_terms_of(path: str) -> list[str]:
    """The parts by which an import of this file would be found."""
    stem = posixpath.splitext(posixpath.basename(path))[0]
    folder = posixpath.basename(posixpath.dirname(path))
    return [name.lower() for name in (stem, folder) if name]


def does_import(name: str, path: str) -> bool:
    """Whether an import means a file: all of one's parts are the end of the other's."""
    whole = posixpath.splitext(path)[0].lower().split("/")
    wanted = name.lower().split("/")
    places = [whole]
    if whole[-1] in _FOLDER_STEMS or path.endswith(".go"):
        places.append(whole[:-1])
    return any(_ends_alike(wanted, place) for place in places)


def _ends_alike(wanted: list[str], place: list[str]) -> bool:
    length = min(len(wanted), len(place))
    if not length or wanted[-length:] != place[-length:]:
        # Two equal last parts are enough: packages are named by other folders than the source has.
        return length >= 2 and wanted[-2:] == place[-2:]
    return length >= 2 or len(place) == 1 or (len(wanted) == 1 and len(place) == 2)
