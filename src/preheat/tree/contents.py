"""Which files have contents worth indexing: not generated, minified, binary, private or huge ones.

Knows neither git nor the index.
"""

import os
import re
from functools import lru_cache

from preheat.model.tree import FileKind

MOST_BYTES = 1 << 20
"""Of a file whose contents are indexed; of a larger one only the path is."""
MOST_DATA_BYTES = 64 << 10
"""The same for formats that hold data more often than text that somebody wrote."""
_HEAD = 8192
_LONGEST_LINE = 5000
_LONGEST_USUAL_LINE = 300
"""Bytes of a line on average, from which on a file is taken for minified."""

_BINARY = frozenset(
    """
    7z a aac aiff apk avi avif bin bmp bz2 cer class crt cur dat db dds deb der dex dll dmg doc docx dylib ear eot exe flac
    flv gif glb gz heic icns ico ipa iso jar jpeg jpg jks keystore lib lz4 m4a m4v mkv mo mov mp3 mp4 mpeg msi node o obj odt
    ogg onnx otf p12 parquet pdb pdf pfx pickle pkl png ppt pptx psd pt pyc pyd pyo rar rpm safetensors so sqlite sqlite3 swf
    tar tgz tif tiff ttf wasm wav webm webp whl woff woff2 xls xlsx xz zip zst
    """.split()  # noqa: SIM905 - a list in this form can be read
)
_DATA = frozenset(("csv", "geojson", "ipynb", "json", "jsonl", "log", "lock", "map", "ndjson", "po", "snap", "svg", "sum", "tsv",
                   "txt", "xml", "yaml", "yml"))  # fmt: skip
_GENERATED_NAME = re.compile(
    r"""(?ix)
    (?:^|/)(?: package-lock\.json | npm-shrinkwrap\.json | (?:yarn|pnpm-lock|bun|cargo|poetry|uv|composer|gemfile|pipfile|flake|
       mix|pubspec|podfile|deno|go\.work)\.(?:lock|lockb|yaml|sum) | gemfile\.lock | go\.sum )$
    | (?:\.min\.(?:js|css|mjs) | \.bundle\.js | [-.]bundled?\.js | \.js\.map | \.css\.map | \.pb\.(?:go|cc|h)
       | _pb2(?:_grpc)?\.pyi?
       | \.pb\.swift | \.g\.dart | \.freezed\.dart | \.generated\.\w+ | _generated\.\w+ | \.designer\.cs | \.snap )$
    """
)
_LEFT_OUT_FOLDERS = frozenset(
    """
    .cache .eggs .git .gradle .hg .idea .mypy_cache .next .nox .nuxt .pytest_cache .ruff_cache .svelte-kit .svn .terraform .tox
    .venv .vs __pycache__ bower_components node_modules venv virtualenv
    """.split()  # noqa: SIM905 - a list in this form can be read
)
_BUILT_FOLDERS = frozenset(
    ("vendor", "third_party", "thirdparty", "dist", "build", "out", "target", "coverage", "Pods")
)
"""Left out where git does not say which files belong to the project."""
_SECRET_NAME = re.compile(
    r"""(?ix)(?:^|/)(?: \.env(?:\.(?!example$|sample$|template$|dist$)[\w.-]+)? | \.netrc | \.npmrc | \.pypirc | \.pgpass
    | \.htpasswd
    | id_(?:rsa|dsa|ecdsa|ed25519) | credentials(?:\.json)? | secrets?\.(?:json|ya?ml|toml)
    | .+\.(?:pem|key|asc|gpg|kdbx|ppk) )$"""
)
_GENERATED_MARK = re.compile(
    rb"(?i)@generated\b|code generated .{0,80}do not edit|\bdo not edit\b.{0,80}\bgenerated\b"
    rb"|\b(?:auto-?\s?generated|generated (?:by|from|file)\b).{0,120}\b(?:do not|don't) (?:edit|modify|change)"
)
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


def may_be_named(path: str) -> bool:
    """Whether a path can stand in the index: not one with line ends, control characters or bytes that are no text, which only an
    attack has."""
    return bool(path) and len(path) < 1024 and not _UNPRINTABLE.search(path)


def is_left_out_folder(name: str, is_versioned: bool) -> bool:
    """Whether nothing below a folder of this name is of the project's own making."""
    return name in _LEFT_OUT_FOLDERS or (not is_versioned and name in _BUILT_FOLDERS)


def is_in_left_out_folder(path: str) -> bool:
    """Whether a folder on the way to a file is left out."""
    return _leads_through_left_out(path.rpartition("/")[0])


@lru_cache(maxsize=4096)
def _leads_through_left_out(folder: str) -> bool:
    return not _LEFT_OUT_FOLDERS.isdisjoint(folder.split("/"))


def kind_by_name(path: str, size: int) -> FileKind:
    """What a file is by its path and size; `text` if its contents have to say it."""
    ending = os.path.splitext(path)[1][1:].lower()
    if ending in _BINARY:
        return "binary"
    if _SECRET_NAME.search(path):
        return "secret"
    if _GENERATED_NAME.search(path):
        return "generated"
    if size > MOST_BYTES:
        return "large"
    return "data" if ending in _DATA and size > MOST_DATA_BYTES else "text"


def kind_by_contents(data: bytes) -> FileKind:
    """What a file is by its contents."""
    head = data[:_HEAD]
    if b"\0" in head:
        return "binary"
    start = head[:2048]
    if b"generated" in start.lower() and _GENERATED_MARK.search(start):
        return "generated"
    if len(data) > _LONGEST_LINE:
        lines = data.count(b"\n") + 1
        if len(data) / lines > _LONGEST_USUAL_LINE and max(map(len, data.split(b"\n"))) > _LONGEST_LINE:
            return "minified"
    return "text"
